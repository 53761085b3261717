"""What users call: classification, regression and novelty detection."""

from .certificates import Certificates
from .classification import SVC, NuSVC
from .novelty import OneClassSVM
from .regression import SVR, NuSVR

__all__ = ["SVC", "SVR", "Certificates", "NuSVC", "NuSVR", "OneClassSVM"]
