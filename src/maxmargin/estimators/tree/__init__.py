"""Decision trees for classification and regression (CART).

The criteria are sums over the samples of a node, so that the weight of a node is built in:

    squared error   c = Σ_i w_i (t_i − t̂)²
    Gini            c = W Σ_k p_k (1 − p_k)       the squared error of one-hot targets at p
    entropy         c = −W Σ_k p_k log p_k        the negative log-likelihood at p
"""

from .classifier import DecisionTreeClassifier
from .export import labels_of, mermaid, names_of
from .pruning import PruningPath
from .regressor import DecisionTreeRegressor
from .splits import Candidates, cost_of
from .tree import LEAF, Tree, by_level

__all__ = [
    "LEAF",
    "Candidates",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "PruningPath",
    "Tree",
    "by_level",
    "cost_of",
    "labels_of",
    "mermaid",
    "names_of",
]
