"""Where do the genes of Escherichia coli start? Chapter 13 of the thesis, from genome to triplets.

    python examples/gene_starts.py                  # 10 splits: half an hour of one core
    python examples/gene_starts.py --quick          # 2 splits, short searches: minutes
    python examples/gene_starts.py --plot roc.png   # the ROC curves as well

Searches do a hundredth to a fifth of the thesis's iterations (`METHODS`), and the verified starts
are those of a later annotation: 769 where the thesis has 732.

The data, ecoli_k12_mg1655.fna.xz and ecoli_k12_verified_starts.tsv, are looked for in the folder
$MAXMARGIN_DATA, else in ../shared/data beside the project.
"""

import argparse
import os
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Memory
from scipy.stats import gmean, mannwhitneyu
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import GroupShuffleSplit

from maxmargin import SVC, SVCSearch
from maxmargin.data import read_fasta, read_gene_starts, start_sites
from maxmargin.kernels import Oligo, TripletOligo

KERNELS = {"3-mer kernel": Oligo(k=3, sigma=1.0), "triplet-weighting kernel": TripletOligo()}


class Method(NamedTuple):
    """A strategy, and the share of the thesis's iterations that it gets."""

    strategy: str
    effort: float


METHODS = {
    "5-fold CV": Method("cv-cma", 0.05),
    "KTA": Method("kta", 0.2),
    "span bound": Method("span", 0.2),
    "likelihood": Method("likelihood", 0.01),
}
START_CODONS = ("ATG", "GTG", "TTG")
SHINE_DALGARNO = "TAAGGAGGT"
# False positive rates at which the ROC curves are drawn.
RATES = np.linspace(0.0, 1.0, 201)


class Trial(NamedTuple):
    """What one method made of one split."""

    error: float
    auc: float
    sensitivity: np.ndarray
    C: float
    kernel: Any
    seconds: float


def main():
    options = parsed_options()
    sites = read_sites(data_folder())
    true = int(np.sum(sites.labels > 0))
    print(f"{true:,} true starts and {len(sites.labels) - true:,} false ones nearby")
    splits = GroupShuffleSplit(options.splits, train_size=options.train, random_state=0)
    splits = list(splits.split(sites.sequences, sites.labels, sites.genes))
    print(f"{len(splits)} splits, {options.train} true starts and their rivals to learn from")
    trials = run(sites, splits, options)
    for kernel in KERNELS:
        show_table(kernel, {method: trials[kernel, method] for method in METHODS})
    show_triplets([t.kernel for t in trials["triplet-weighting kernel", "likelihood"]])
    if options.plot:
        plot_roc(trials, options.plot)
        print(f"\nROC curves in {options.plot}")


def parsed_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2 splits and a tenth of the effort")
    parser.add_argument("--splits", type=int, help="training and test sets, 2 at least; 10")
    parser.add_argument("--train", type=int, default=400, help="true starts to train on; 400")
    parser.add_argument("--effort", type=float, help="factor on the length of the searches; 1")
    parser.add_argument("--keep", help="folder for finished trials, from which a new run goes on")
    parser.add_argument("--plot", help="file for the ROC curves, such as roc.png")
    options = parser.parse_args()
    options.splits = options.splits or (2 if options.quick else 10)
    options.effort = options.effort or (0.1 if options.quick else 1.0)
    if options.splits < 2:
        parser.error(f"--splits must be at least 2, got {options.splits}")
    return options


def data_folder():
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("MAXMARGIN_DATA", beside))


def read_sites(folder):
    """Windows of 50 letters around true starts and around codons that could be one (13.1)."""
    try:
        (genome,) = read_fasta(folder / "ecoli_k12_mg1655.fna.xz")
        starts = read_gene_starts(folder / "ecoli_k12_verified_starts.tsv")
    except FileNotFoundError as error:
        sys.exit(
            f"{error.filename} is absent: set MAXMARGIN_DATA to the folder that holds the genome "
            "(ecoli_k12_mg1655.fna.xz) and the verified starts (ecoli_k12_verified_starts.tsv)"
        )
    return start_sites(genome.sequence, starts)


def run(sites, splits, options):
    """All trials, by kernel and method."""
    remembered = Memory(options.keep, verbose=0).cache(trial)
    trials = {pair: [] for pair in product(KERNELS, METHODS)}
    for number, (train, test) in enumerate(splits):
        for (kernel, method), own in trials.items():
            strategy, share = METHODS[method]
            task = (KERNELS[kernel], strategy, options.effort * share, number)
            result = Trial(*remembered(sites, train, test, *task))
            own.append(result)
            print(
                f"split {number + 1}, {kernel}, {method}: error {result.error:.4f}, "
                f"AUC {result.auc:.4f}, {result.seconds:.0f} s of CPU",
                file=sys.stderr,
                flush=True,
            )
    return trials


def trial(sites, train, test, kernel, strategy, effort, random_state):
    """The fields of a `Trial`."""
    search = SVCSearch(SVC(kernel=kernel), strategy, effort=effort, random_state=random_state)
    began = time.process_time()
    search.fit(sites.sequences[train], sites.labels[train])
    seconds = time.process_time() - began
    labels, outputs = sites.labels[test], search.decision_function(sites.sequences[test])
    error = np.mean(search.predict(sites.sequences[test]) != labels)
    false_positives, true_positives, _ = roc_curve(labels, outputs)
    sensitivity = np.interp(RATES, false_positives, true_positives)
    found = search.best_params_
    area = roc_auc_score(labels, outputs)
    return float(error), float(area), sensitivity, found["C"], found["kernel"], seconds


def show_table(kernel, trials):
    """Table 13.1: mean error, and the level at which a method is better than each other."""
    numbers = "".join(f"{f'({i + 1})':>7}" for i in range(len(trials)))
    print(f"\n{kernel}\n{'':15}{'error':>17}{numbers}{'AUC':>9}{'sigma':>7}{'C':>8}{'CPU s':>9}")
    errors = {method: np.array([t.error for t in own]) for method, own in trials.items()}
    for i, (method, own) in enumerate(trials.items()):
        levels = [
            "" if other == method else f"{better(errors[method], errors[other]):.2f}"
            for other in trials
        ]
        print(
            f"{method:<11}({i + 1}) {errors[method].mean():8.4f} ± "
            f"{errors[method].std(ddof=1):.4f}{''.join(f'{level:>7}' for level in levels)}"
            f"{np.mean([t.auc for t in own]):9.4f}{gmean([t.kernel.sigma for t in own]):7.2f}"
            f"{gmean([t.C for t in own]):8.2f}{np.mean([t.seconds for t in own]):9.0f}"
        )


def better(first, second):
    """Level of the one-sided Mann–Whitney test that the first errors are smaller."""
    return mannwhitneyu(first, second, alternative="less").pvalue


def show_triplets(kernels, most=12):
    """Table 13.2: geometric means of the weights over the splits, those of all triplets being 1."""
    weights = gmean(np.array([kernel.weights for kernel in kernels]))
    weights /= gmean(weights)
    triplets = np.array(kernels[0].triplets)
    order = np.argsort(-weights)
    rank = {str(triplet): place + 1 for place, triplet in enumerate(triplets[order])}
    print(f"\nthe {most} most important triplets, by likelihood")
    for line in (order[: most // 2], order[most // 2 : most]):
        print("  " + "".join(f"{triplets[i]:>4}{weights[i]:6.2f}" for i in line))
    signal = dict.fromkeys(SHINE_DALGARNO[i : i + 3] for i in range(len(SHINE_DALGARNO) - 2))
    for what, names in (("start codons", START_CODONS), (f"in {SHINE_DALGARNO}", signal)):
        places = ", ".join(f"{name} {rank[name]}" for name in names)
        print(f"places among {len(weights)}, {what}: {places}")


def plot_roc(trials, path):
    """Figure 13.3: medians of the sensitivity over the splits."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    for axes, kernel in zip(figure.subplots(1, 2, sharey=True), KERNELS):
        for method in METHODS:
            own = trials[kernel, method]
            area = np.mean([t.auc for t in own])
            median = np.median([t.sensitivity for t in own], axis=0)
            axes.plot(RATES, median, label=f"{method}, area {area:.3f}")
        axes.set(title=kernel, xlabel="1 − specificity", xlim=(-0.01, 0.4), ylim=(0.6, 1.005))
        axes.legend(loc="lower right")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("sensitivity")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
