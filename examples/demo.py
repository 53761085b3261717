"""Odd or even? Train a machine on handwritten digits, prove it optimal, test it, see it fail."""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import maxmargin
from maxmargin.dual import certify, hinge
from maxmargin.kernels import Gaussian

C, GAMMA = 10.0, 0.001
SHADES = " ░▒▓█"


def main():
    say("maxmargin", f"{maxmargin.__version__}: is a handwritten digit odd or even?")
    digits = load_digits()
    X, X_test, digit, digit_test = train_test_split(
        digits.data, digits.target, test_size=1 / 3, random_state=0
    )
    y, y_test = odd(digit), odd(digit_test)
    say("data", f"{len(X):,} pictures of 8×8 pixels to learn from, {len(X_test):,} for the test")
    say("machine", f"hinge loss, C = {C:g}, Gaussian kernel, γ = {GAMMA:g}")

    compile_once()
    gram = Gaussian(GAMMA).bind(X)
    machine = hinge(y, C)
    solution = maxmargin.solve(machine.problem, gram)
    say("trained", f"in {solution.seconds:.2f} s, {solution.steps:,} steps: {solution.status}")

    certificate = certify(machine.problem, solution.alpha, gram, solution.bias)
    say("certified", f"{certificate.dual:.9g} ≤ the optimum ≤ {certificate.primal:.9g}")
    say("", f"relative gap {certificate.relative_gap:.0e}, violation {certificate.violation:.0e}")

    expansion = machine.read(solution.alpha, solution.bias)
    support = np.flatnonzero(expansion.coef)
    decision = Gaussian(GAMMA)(X_test, X[support]) @ expansion.coef[support] + expansion.intercept
    wrong = np.flatnonzero(np.sign(decision) != y_test)
    share = 1 - wrong.size / y_test.size
    say(
        "tested",
        f"{share:.1%} right, with {support.size} of {len(X):,} pictures as support vectors",
    )
    show(X_test[wrong], digit_test[wrong], decision[wrong])


def odd(digit):
    return np.where(digit % 2, 1, -1)


def compile_once():
    began = time.perf_counter()
    maxmargin.solve(hinge([1, -1], C).problem, Gaussian(GAMMA).bind(np.eye(2)))
    seconds = time.perf_counter() - began
    if seconds > 1:
        say("compiled", f"in {seconds:.0f} s, once: the result is kept on disk")


def say(subject, text):
    print(f"{subject:>10}  {text}", flush=True)


def show(pictures, digits, decision, most=6):
    """The worst mistakes side by side, shade by shade."""
    worst = np.argsort(-np.abs(decision))[:most]
    say("wrong", f"{len(pictures)} pictures, the most certain mistakes first:\n")
    for row in range(8):
        lines = (
            "".join(2 * SHADES[int(p // 4)] for p in pictures[i][8 * row :][:8]) for i in worst
        )
        print("            " + "  ".join(lines))
    said = ("odd" if decision[i] > 0 else "even" for i in worst)
    print("            " + "  ".join(f"{f'a {digits[i]}, {s}?':<16}" for i, s in zip(worst, said)))


if __name__ == "__main__":
    main()
