"""Chapter 11: NoisyRprop on f⁽¹⁾ … f⁽⁴⁾, the curves of Figures 11.1 to 11.3 as a table.

python -m benchmarks.tuning_noise --evaluations 1000000
"""

from __future__ import annotations

import argparse

import numpy as np

from maxmargin.tuning import NoisyRprop, Vector
from maxmargin.tuning.noise import SeparateBowl, SkewedSlope, TiltedBowl, UnreliableSign

STARTS = {
    UnreliableSign: [1.05],
    SeparateBowl: [1.2, 1.3],
    TiltedBowl: [1.2, 1.3],
    SkewedSlope: [1.8],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluations", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    marks = np.unique(np.geomspace(40, options.evaluations, 12).astype(int))
    print("median distance to the optimum after so many evaluations")
    print(f"{'':<16}" + "".join(f"{mark:>10}" for mark in marks))
    finals = {}
    for family, start in STARTS.items():
        distances = np.empty((options.seeds, marks.size))
        for seed in range(options.seeds):
            function = family(random_state=seed)
            walk = NoisyRprop(Vector(np.array(start)), step=0.01)
            for k, mark in enumerate(marks):
                walk.run(function, evaluations=int(mark) - walk.evaluations)
                distances[seed, k] = np.linalg.norm(walk.point.theta - np.array(family.optimum))
        finals[family] = distances[:, -1]
        print(
            f"{family.__name__:<16}" + "".join(f"{d:10.1e}" for d in np.median(distances, axis=0))
        )
    far = finals[UnreliableSign].max()
    skewed = finals[SkewedSlope].max()
    print(f"f1 ends within {far:.1e} of 0: {'met' if far < 1e-300 else 'MISSED'} (1e-300)")
    print(f"f4 ends within {skewed:.1e} of 0.75: {'met' if skewed < 0.05 else 'MISSED'} (0.05)")


if __name__ == "__main__":
    main()
