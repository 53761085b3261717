"""Model selection of chapters 12 and 13: starts, tables and counts."""

import numpy as np
import pytest

from benchmarks.tuning_trials import artificial
from reproduction import chapter12, selection
from reproduction.items import Verdict


def printed_row(error=0.2, deviation=0.01, signs=("<", "<", "<", "<")):
    return {"error": error, "deviation": deviation, "signs": list(signs)}


def table(error):
    return {name: printed_row(error) for name in selection.STRATEGIES}


def trials(value, count=5):
    return {name: [value] * count for name in selection.STRATEGIES}


def test_span_bound_fails_from_a_single_start_and_not_from_the_grid():
    data = artificial("chess", 0, test=2_000)
    single, grid = (
        selection.error_on_test(data, "span", start, "radial", 0, False)
        for start in ("single", "grid")
    )
    assert single > 0.3
    assert grid < 0.2


def test_means_are_counted_to_both_sides_of_the_printed_ones():
    printed = {"a": table(0.2)}
    assert selection.agreement({"a": trials(0.2)}, printed)["within"] == 5
    assert selection.agreement({"a": trials(0.1)}, printed)["lower"] == 5
    assert selection.agreement({"a": trials(0.3)}, printed)["higher"] == 5


def test_standard_error_is_that_of_the_difference():
    values = [0.1, 0.2, 0.3, 0.4]
    apart = selection.standard_errors_apart(values, printed_row(0.2, 0.5))
    own = np.std(values, ddof=1) / 2.0
    assert apart == pytest.approx(0.05 / np.hypot(own, 0.05))


def test_directions_of_significant_comparisons_are_counted():
    errors = {name: [0.1 + 0.01 * k] for k, name in enumerate(selection.STRATEGIES)}
    printed = {name: printed_row(signs=("", "", "", "")) for name in selection.STRATEGIES}
    printed["cv-cma"]["signs"] = ["<<<", "<", "0.4", ">"]
    printed["posterior"]["signs"] = ["<", "", "", ""]
    assert selection.ranks_agree({"a": errors}, {"a": printed}) == (2, 3)


def test_comparison_has_signs_of_row_against_column():
    errors = {"kta": list(np.linspace(0.1, 0.2, 30)), "span": list(np.linspace(0.4, 0.5, 30))}
    rows = selection.comparison_table(errors, {}, "").rows
    assert rows[0][-1] == "`–` `<<<`"
    assert rows[1][-1] == "`>>>` `–`"


def test_methods_that_the_thesis_does_not_have_stand_without_print():
    errors = {**trials(0.2), selection.AUTO: [0.1] * 5}
    *rows, last = selection.comparison_table(errors, table(0.2), "").rows
    assert rows[1][-2] == "`<` `–` `<` `<` `<`"
    assert last[-2] is None


def test_verdict_follows_from_the_errors():
    printed = {"a": {name: printed_row(signs=["0.5"] * 4) for name in selection.STRATEGIES}}
    printed["a"]["kta"]["signs"] = ["<"] * 4
    same = {**trials(0.2), "kta": [0.1999] * 5}
    assert chapter12.show_benchmark({"a": same}, printed).verdict is Verdict.REPRODUCED
    other = chapter12.show_benchmark({"a": trials(0.4)}, printed)
    assert other.verdict is Verdict.DIFFERS


def test_printed_deviation_stands_in_where_trials_are_few():
    apart = selection.standard_errors_apart([0.3], printed_row(0.2, 0.1))
    assert apart == pytest.approx(0.1 / np.hypot(0.1, 0.01))


@pytest.mark.parametrize(
    ("within", "agreeing", "verdict"),
    [
        (23, 40, Verdict.REPRODUCED),
        (20, 40, Verdict.PATTERN),
        (23, 20, Verdict.PATTERN),
        (20, 20, Verdict.DIFFERS),
    ],
)
def test_verdict_needs_numbers_and_directions(within, agreeing, verdict):
    counts = {"within": within, "lower": 25 - within, "higher": 0}
    assert selection.judged(counts, agreeing, 41, 5) is verdict
    few = selection.judged(counts, agreeing, 41, 4)
    assert few is (Verdict.PATTERN if verdict is Verdict.REPRODUCED else verdict)
