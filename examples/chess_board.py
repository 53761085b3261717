"""The chess board, on which steps of two variables crawl: what planning and face steps save."""

import numpy as np

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian

WAYS = {
    "two variables a step": {"face": False},
    "… overstepping by a tenth": {"face": False, "overstep": 1.1},
    "… planning ahead": {"face": False, "planning": 1},
    "pairs and face steps": {},
}


def main():
    X, y = chess_board(500, random_state=0)
    kernel = Gaussian(0.5)
    gram, machine = kernel.bind(X), hinge(y, C=1e6)
    print(f"{'':26}{'steps':>10}{'face steps':>12}{'violation':>11}{'dual value':>16}")
    for way, options in WAYS.items():
        solution = solve(machine.problem, gram, **options)
        print(
            f"{way:26}{solution.steps:10,}{solution.face_steps:12,}"
            f"{solution.violation:11.0e}{solution.dual:16,.2f}"
        )
    coef, intercept, *_ = machine.read(solution.alpha, solution.bias)

    print("\nwhat it made of the board:\n")
    across, down = np.meshgrid((np.arange(48) + 0.5) / 12, 4 - (np.arange(24) + 0.5) / 6)
    decision = kernel(np.column_stack([across.ravel(), down.ravel()]), X) @ coef + intercept
    for line in decision.reshape(across.shape) > 0:
        print("    " + "".join("█" if white else "·" for white in line))


if __name__ == "__main__":
    main()
