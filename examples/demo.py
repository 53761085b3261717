"""Train a machine on handwritten digits, prove it optimal, test it, and look at its mistakes."""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import maxmargin
from maxmargin import SVC

SHADES = " ░▒▓█"


def main():
    say("maxmargin", f"{maxmargin.__version__} learns to read")
    digits = load_digits()
    X, X_test, y, y_test = train_test_split(
        digits.data, digits.target, test_size=1 / 3, random_state=0
    )
    say("data", f"{len(X):,} pictures of 8×8 pixels to learn from, {len(X_test):,} for the test")

    seconds = time_of(lambda: SVC().fit(X[:20], y[:20]))
    if seconds > 2:
        say("compiled", f"in {seconds:.0f} s, once: the result is kept on disk")

    model = SVC(C=10)
    seconds = time_of(lambda: model.fit(X, y))
    proofs = model.certificate_
    say("trained", f"{len(proofs)} machines, one for each pair of digits, in {seconds:.2f} s")
    say("", f"{model.n_iter_.sum():,} steps, {model.n_support_.sum()} support vectors")

    dual, primal = (sum(getattr(p, side) for p in proofs) for side in ("dual", "primal"))
    say("certified", f"{dual:.8f} ≤ the optimum ≤ {primal:.8f}, all machines together")
    say("", f"relative gap at most {proofs.relative_gap:.0e}, violation {proofs.violation:.0e}")

    said = model.predict(X_test)
    wrong = np.flatnonzero(said != y_test)
    say("tested", f"{1 - wrong.size / y_test.size:.1%} right; it stumbled over\n")
    show(X_test[wrong], y_test[wrong], said[wrong])


def time_of(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def say(subject, text):
    print(f"{subject:>10}  {text}", flush=True)


def show(pictures, digits, said, across=5):
    """Pictures side by side, shade by shade, and what was said about them."""
    for row in range(8):
        lines = (
            "".join(2 * SHADES[int(p // 4)] for p in x[8 * row :][:8]) for x in pictures[:across]
        )
        print((" " * 12 + "  ".join(lines)).rstrip())
    labels = (f"a {digit}, it said {wrong}" for digit, wrong in zip(digits, said[:across]))
    print(" " * 12 + "  ".join(f"{label:^16}" for label in labels))


if __name__ == "__main__":
    main()
