"""The benchmark of kernel ridge regression compares like with like."""

from benchmarks.ridge import measured


def test_both_predict_the_same():
    run = measured(300, 0.1, repeat=1)
    assert run.difference < 1e-6
    assert run.gap < 1e-12
    assert "×" in str(run)
