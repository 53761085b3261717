"""Columns and targets that would mislead a machine."""

from datetime import date

import numpy as np
import polars
import pytest

from maxmargin.data import DataError, schema_of
from maxmargin.data.readers import Table
from maxmargin.data.tables.names import listed, suggestion
from maxmargin.data.tables.traps import mistakes, resemblance

RANDOM = np.random.default_rng(0)
N = 60
FEATURE = RANDOM.standard_normal(N)
CLASSES = np.where(RANDOM.uniform(size=N) < 0.5, "yes", "no")


def table(**columns):
    frame = polars.DataFrame({"x": FEATURE, **columns}, strict=False)
    return Table(
        "cells.csv",
        frame if "class" in columns else frame.with_columns(polars.Series("class", CLASSES)),
    )


@pytest.mark.parametrize(("texts", "found"), [(6, 6), (7, 0)])
def test_cells_are_mistakes_where_nine_of_ten_others_are_numbers(texts, found):
    cells = [*map(str, range(N - texts)), *["?x"] * texts]
    assert len(mistakes(table(cells=cells), "cells")) == found


def left_out(**columns):
    """Names of the columns left out, and what is said."""
    schema, notes = schema_of(table(**columns))
    names = {column.name for column in schema.columns}
    return set(columns) - names - {"class"}, " / ".join(notes)


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ({"count": np.arange(N)}, "numbers the rows"),
        ({"back": np.arange(N)[::-1]}, "numbers the rows"),
        ({"patient_id": RANDOM.permutation(10 * N)[:N]}, "numbers the rows"),
        ({"ID": np.sort(RANDOM.permutation(10 * N)[:N])}, "numbers the rows"),
        ({"account": np.cumsum(1 + np.arange(N) % 4)}, "rise or fall with every row"),
        ({"countdown": -np.cumsum(1 + np.arange(N) % 4)}, "rise or fall with every row"),
        ({"unit": np.full(N, 3)}, "all its values are 3"),
        ({"unit": ["kg"] * N}, "all its values are 'kg'"),
        ({"code": np.where(CLASSES == "yes", 1, 0)}, "is the target 'class' in other words"),
        ({"copy": CLASSES}, "is the target 'class' in other words"),
    ],
)
def test_column_is_left_out_and_told_why(column, reason):
    names, said = left_out(**column)
    assert names == set(column)
    assert reason in said
    assert f"--include {next(iter(column))}" in said


@pytest.mark.parametrize(
    "column",
    [
        {"year": 1900 + np.arange(N) // 2},
        {"height": RANDOM.permutation(N)},
        {"sensor": np.arange(N) * 1.5},
        {"set_point": np.arange(N) * 10},
        {"flag": RANDOM.uniform(size=N) < 0.5},
        {"town": ["Bonn", "Ulm"] * (N // 2)},
    ],
)
def test_ordinary_column_is_taken(column):
    assert left_out(**column)[0] == set()


def test_included_column_is_taken():
    schema, _ = schema_of(table(id=np.arange(N)), include=("id",))
    assert "id" in {column.name for column in schema.columns}


def test_only_column_is_taken_whatever_it_is():
    data = Table("t.csv", polars.DataFrame({"id": np.arange(N), "class": CLASSES}))
    assert [column.name for column in schema_of(data)[0].columns] == ["id"]


def test_numbering_is_left_out_where_rows_were_copied():
    plain = table(patient_id=RANDOM.permutation(10 * N)[:N])
    copied = Table("cells.csv", polars.concat([plain.frame, plain.frame[:40]]))
    schema, notes = schema_of(copied)
    assert [column.name for column in schema.columns] == ["x"]
    assert any("'patient_id' is left out: it numbers the rows" in note for note in notes)


def test_column_that_nearly_tells_the_target_is_said_and_taken():
    leak = np.where(CLASSES == "yes", 1.0, -1.0) + 0.01 * FEATURE
    names, said = left_out(leak=leak)
    assert names == set()
    assert "'leak' alone nearly tells the target" in said


@pytest.mark.parametrize("kind", ["texts", "numbers", "truths"])
def test_column_of_few_values_that_nearly_tells_the_target_is_said(kind):
    y = np.repeat(["no", "yes"], 150)
    leak = (y == "yes").astype(int)
    leak[[3, 200]] = 1 - leak[[3, 200]]
    columns = {"texts": np.where(leak, "ill", "well"), "numbers": leak, "truths": leak == 1}
    _, notes = schema_of(Table("t.csv", polars.DataFrame({"a": columns[kind], "class": y})))
    assert any("'a' alone nearly tells the target" in note for note in notes)


def test_rare_text_besides_those_that_tell_the_target_hides_nothing():
    y = np.repeat(["no", "yes"], 150)
    leak = np.where(y == "yes", "ill", "well")
    leak[5] = "?"
    assert resemblance(leak, y) == "nearly"
    assert resemblance(np.array([f"street {i // 2}" for i in range(300)]), y) == ""


def test_curve_of_the_measurement_is_said():
    target = FEATURE + RANDOM.standard_normal(N)
    assert resemblance(np.exp(-target), target) == "nearly"
    assert resemblance(target**2, target) == ""


def test_measurement_in_order_is_a_target():
    rising = np.cumsum(1 + np.arange(N) % 4)
    assert schema_of(table(**{"class": rising}))[0].target == "class"


def test_measurement_in_other_units_is_left_out():
    target = FEATURE**2 + RANDOM.standard_normal(N)
    names, said = left_out(inches=target / 2.54 + 1.0, **{"class": target})
    assert names == {"inches"}
    assert "in other words" in said


def test_coarse_column_of_many_rows_does_not_seem_to_tell_the_target():
    values, target = RANDOM.integers(0, 256, 100_000), RANDOM.integers(0, 2, 100_000)
    assert resemblance(values, target) == ""


def test_resemblance_of_unrelated_columns_is_none():
    assert resemblance(FEATURE, CLASSES) == ""
    assert resemblance(FEATURE, RANDOM.standard_normal(N)) == ""


def test_bad_cell_is_shown_with_its_line():
    cells = [f"{value:.3f}" for value in FEATURE]
    cells[16] = "12o"
    with pytest.raises(DataError, match=r"column 'age' .* numbers, except for '12o' in line 18:"):
        schema_of(table(age=cells))


def test_bad_cells_are_counted():
    cells = [f"{value:.3f}" for value in FEATURE]
    cells[3], cells[7], cells[9] = "x", "y", "z"
    with pytest.raises(DataError, match=r"'x' in line 5 and 2 more"):
        schema_of(table(age=cells))


def test_identifiers_that_are_mostly_numbers_are_left_out_with_the_first_other_cell():
    cells = [f"{value:.3f}" for value in FEATURE]
    cells[10:30] = ["n.a."] * 20
    names, said = left_out(age=cells)
    assert names == {"age"}
    assert "; 40 are numbers, 'n.a.' in line 12 and 19 more are not; --include age" in said


def test_texts_with_some_numbers_among_them_are_texts():
    cells = ["12", "12b", "13", "c"] * (N // 4)
    assert mistakes(table(flat=cells), "flat") == []


def test_bad_cell_in_new_data_is_shown_with_its_line():
    schema, _ = schema_of(table(age=FEATURE))
    cells = [f"{value:.3f}" for value in FEATURE]
    cells[4] = "old"
    with pytest.raises(DataError, match=r"must hold numbers.*'old' in line 6"):
        schema.features(table(age=cells))


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ([f"name {i}" for i in range(N)], "different in every row"),
        ([f"name {i // 2}" for i in range(N)], "different in 30 of 60 rows"),
        ([date(2024, 1 + i % 9, 1) for i in range(N)], "holds dates or times"),
        (np.arange(N), "numbers the rows"),
    ],
)
def test_target_that_teaches_nothing_is_refused(target, words):
    data = table(**{"class": target})
    with pytest.raises(DataError, match=words):
        schema_of(data)
    assert schema_of(data, include=("class",))[0].target == "class"


@pytest.mark.parametrize("options", [{"target": "clas"}, {"drop": ("X",)}, {"include": ("x1",)}])
def test_misspelt_name_gets_a_suggestion(options):
    with pytest.raises(DataError, match=r"did you mean '(class|x)'\?"):
        schema_of(table(), **options)


def test_lacking_column_of_new_data_gets_a_suggestion():
    schema, _ = schema_of(table(weight=FEATURE[::-1]))
    with pytest.raises(DataError, match=r"lacks the column 'weight'.* did you mean 'wieght'"):
        schema.features(table(wieght=FEATURE))


def test_names_far_away_are_listed_instead():
    assert suggestion("zzz", ["a", "b"]) == "it has 'a', 'b'"


def test_numpy_texts_are_listed_as_texts():
    assert listed(np.array(["a", "b"])) == "'a', 'b'"


def test_column_that_tells_all_but_a_hundredth_is_named():
    y = np.repeat(["no", "yes"], 150)
    leak = np.r_[RANDOM.uniform(0, 1, 150), RANDOM.uniform(2, 3, 150)]
    leak[7] = 2.5
    assert resemblance(leak, y) == "nearly"
    leak[8:20] = RANDOM.uniform(2, 3, 12)
    assert resemblance(leak, y) == ""


def test_column_tells_nothing_about_a_rare_class_by_its_rarity():
    y = np.where(np.arange(10_000) % 500 == 7, "fraud", "ok")
    assert resemblance(RANDOM.standard_normal(10_000), y) == ""


def test_table_of_constants_is_refused_with_the_way_out():
    frame = polars.DataFrame({"c": [7] * N, "class": CLASSES})
    with pytest.raises(DataError, match=r"no columns to learn from: 'c': all its values are 7"):
        schema_of(Table("cells.csv", frame))
    schema, _ = schema_of(Table("cells.csv", frame), include=("c",))
    assert [column.name for column in schema.columns] == ["c"]


def test_only_column_is_used_and_said_to_tell_the_target():
    frame = polars.DataFrame({"code": np.where(CLASSES == "yes", 1, 0), "class": CLASSES})
    notes = schema_of(Table("cells.csv", frame))[1]
    assert "'code' is used for want of others: it is the target 'class' in other words" in notes


def test_column_without_any_value_is_left_out():
    frame = polars.DataFrame({"x": FEATURE, "gap": empty_column(), "class": CLASSES})
    schema, notes = schema_of(Table("cells.csv", frame))
    assert [column.name for column in schema.columns] == ["x"]
    assert "'gap' is left out: it is empty; --include gap uses it" in notes


def empty_column():
    return polars.Series([None] * N, dtype=polars.Float64)


def test_different_strings_are_left_out_with_the_way_out():
    notes = schema_of(table(key=[f"k{i}" for i in range(N)]))[1]
    assert "'key' is left out: 60 of 60 strings are different; --include key uses it" in notes


def test_each_misspelt_column_gets_a_suggestion():
    schema, _ = schema_of(table(income=FEATURE[::-1]))
    other = Table("new.csv", polars.DataFrame({"X": FEATURE, "incmoe": FEATURE}))
    with pytest.raises(DataError, match="did you mean 'X' for 'x', 'incmoe' for 'income'"):
        schema.features(other)
