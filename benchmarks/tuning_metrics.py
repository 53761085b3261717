"""Chapter 10: what to adapt of a metric, on the rotated chess board, by the radius–margin quotient.

    python -m benchmarks.tuning_metrics --trials 20 --processes 2

Each trial starts from an isotropic kernel. Its width is Jaakkola's, made narrower by factors of two
until the quotient is below `LARGEST`: beyond, float64 cannot tell a hard margin from none.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from maxmargin.data import random_stretch, stretched_chess_board
from maxmargin.kernels import MetricGaussian
from maxmargin.tuning import IRpropPlus, Point, RadiusMargin, median_gamma
from maxmargin.tuning.machine import optimum

from .tuning_trials import run_trials

CASES = {
    "A": ("shape", "orientation"),
    "B": ("size", "orientation"),
    "C": ("orientation",),
    "D": ("size",),
    "E": (),
}
SAMPLES, TEST_SAMPLES, STEPS = 500, 20_000, 100
LARGEST = 1e10


def hard_margin_error(kernel: Any, X: Any, y: Any, new: Any, labels: Any) -> tuple[float, float]:
    """Test error and share of support vectors of the hard-margin machine."""
    endless = np.inf * y
    fit = optimum(kernel(X), y * 1.0, np.minimum(endless, 0.0), np.maximum(endless, 0.0))
    outputs = kernel(new, X) @ fit.alpha + fit.bias
    return float(np.mean(np.where(outputs > 0, 1, -1) != labels)), float(np.mean(fit.alpha != 0))


def trial(job: tuple[str, int]) -> dict[str, Any]:
    case, seed = job
    stretch = random_stretch(random_state=seed)
    X, y = stretched_chess_board(SAMPLES, stretch=stretch, random_state=2 * seed)
    new, labels = stretched_chess_board(TEST_SAMPLES, stretch=stretch, random_state=2 * seed + 1)
    gamma = median_gamma(X, y)
    while True:
        start = Point(MetricGaussian.isotropic(gamma, 2, CASES[case]), np.inf, fixed=True)
        if RadiusMargin(X, y).value(start) < LARGEST:
            break
        gamma *= 4.0
    result = IRpropPlus(start, 0.1).run(RadiusMargin(X, y), evaluations=STEPS)
    error, support = hard_margin_error(result.point.kernel, X, y, new, labels)
    before, few = hard_margin_error(start.kernel, X, y, new, labels)
    return {
        "error": error,
        "support": support,
        "quotient": result.value,
        "start": [before, few, RadiusMargin(X, y).value(start)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    jobs = [(case, seed) for case in CASES for seed in range(options.trials)]
    records = run_trials(trial, jobs, "tuning_metrics", options.processes)
    own = {case: [r for r in records if r["job"][0] == case] for case in CASES}
    errors = {case: np.array([r["error"] for r in own[case]]) for case in CASES}
    levels = {
        case: mannwhitneyu(errors["D"], errors[case], alternative="less").pvalue for case in CASES
    }
    print(f"{'case':<5}{'frozen':<24}{'error':>8}{'sd':>8}{'SV':>7}{'R²/ρ²':>11}   p(D < it)")
    for case, frozen in CASES.items():
        support = np.mean([r["support"] for r in own[case]])
        quotient = np.median([r["quotient"] for r in own[case]])
        print(
            f"{case:<5}{', '.join(frozen) or 'nothing':<24}{errors[case].mean():8.4f}"
            f"{errors[case].std(ddof=1):8.4f}{support:7.2f}{quotient:11.3g}   "
            + ("" if case == "D" else f"{levels[case]:.2g}")
        )
    worst = max(levels[case] for case in CASES if case != "D")
    verdict = "met" if worst < 0.01 else "MISSED"
    print(f"case D has the lowest error at level {worst:.2g}: {verdict} (0.01)")


if __name__ == "__main__":
    main()
