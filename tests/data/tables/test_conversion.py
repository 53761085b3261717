"""Tables become numbers: columns, categories, missing values, targets."""

import numpy as np
import polars
import pytest
from scipy import sparse

from maxmargin.data import DataError, Table, Vectors, schema_of, standardised, targets_of

PEOPLE = polars.DataFrame(
    {
        "age": [20, 30, 40, 50],
        "town": ["Bonn", "Köln", "Bonn", "Ulm"],
        "married": [True, False, True, False],
        "class": ["x", "y", "x", "y"],
    }
)


def table(frame=PEOPLE, **changed):
    columns = {name: frame[name] for name in frame.columns} | changed
    return Table("people.csv", polars.DataFrame(columns, strict=False))


def test_columns_become_features_in_order():
    schema, _ = schema_of(table())
    assert schema.feature_names == ("age", "town=Bonn", "town=Köln", "town=Ulm", "married")
    expected = [[20, 1, 0, 0, 1], [30, 0, 1, 0, 0], [40, 1, 0, 0, 1], [50, 0, 0, 1, 0]]
    np.testing.assert_array_equal(schema.features(table()), expected)


def test_target_keeps_its_type():
    for values in (["x", "y", "x", "y"], [3, 1, 3, 1], [0.5, 1.5, 0.5, 1.5], [True, False] * 2):
        data = table(**{"class": values})
        targets = targets_of(data, schema_of(data)[0])
        np.testing.assert_array_equal(targets, values)


@pytest.mark.parametrize("name", ["target", "Label", "class", "y", "OUTCOME"])
def test_target_is_found_by_its_name(name):
    data = Table("t.csv", polars.DataFrame({"a": [1, 2], name: [0, 1], "b": [3, 4]}))
    schema, notes = schema_of(data)
    assert schema.target == name
    assert notes == (f"target is column {name!r}, by its name",)


def test_target_is_the_last_column_where_no_name_tells():
    data = Table("t.csv", polars.DataFrame({"a": [1, 2], "b": [0, 1]}))
    schema, notes = schema_of(data)
    assert schema.target == "b"
    assert notes == ("target is the last column, 'b'; --target chooses another",)


@pytest.mark.parametrize("target", ["age", "1"])
def test_target_is_chosen_by_name_or_place(target):
    schema, notes = schema_of(table(), target=target)
    assert schema.target == "age"
    assert not any("target" in note for note in notes)


def test_unknown_target_is_told_what_there_is():
    with pytest.raises(DataError, match="has no column 'price'; it has 'age', 'town', 'married'"):
        schema_of(table(), target="price")


def test_column_to_drop_is_dropped():
    assert schema_of(table(), drop=("town",))[0].feature_names == ("age", "married")
    with pytest.raises(DataError, match="has no column 'twon' to drop"):
        schema_of(table(), drop=("twon",))


def test_identifiers_are_left_out_and_told():
    names = [f"person {i}" for i in range(50)]
    data = Table("t.csv", polars.DataFrame({"name": names, "a": range(50), "y": [0, 1] * 25}))
    schema, notes = schema_of(data)
    assert schema.feature_names == ("a",)
    said = "'name' is left out: 50 of 50 strings are different; --include name uses it"
    assert said in notes


def test_days_count():
    from datetime import date, datetime

    days = [date(1970, 1, 2), date(1970, 1, 3), date(1971, 1, 1), date(1970, 1, 1)]
    schema, _ = schema_of(table(age=days))
    np.testing.assert_array_equal(schema.features(table(age=days))[:, 0], [1, 2, 365, 0])
    times = [datetime(1970, 1, 1, 12)] * 4
    np.testing.assert_array_equal(schema.features(table(age=times))[:, 0], [0.5] * 4)


# ---- missing values -------------------------------------------------------------------------

HOLES = {"age": [None, 30, None, 50], "town": ["Bonn", None, "Bonn", "Ulm"]}


def test_missing_values_are_counted_and_their_columns_named():
    with pytest.raises(
        DataError, match=r"3 values are missing in people.csv: age \(2\), town \(1\)"
    ):
        schema_of(table(**HOLES))


def test_nan_is_missing():
    with pytest.raises(DataError, match=r"1 values are missing in people.csv: age \(1\)"):
        schema_of(table(age=[1.0, float("nan"), 2.0, 3.0]))


def test_median_and_most_frequent_fill():
    schema, notes = schema_of(table(**HOLES), impute="median")
    expected = [[40, 1, 0, 1], [30, 1, 0, 0], [40, 1, 0, 1], [50, 0, 1, 0]]
    np.testing.assert_array_equal(schema.features(table(**HOLES)), expected)
    assert "2 missing values of 'age' become 40" in notes
    assert "1 missing value of 'town' becomes 'Bonn'" in notes


def test_new_data_are_filled_with_what_training_learned():
    schema, _ = schema_of(table(), impute="median")
    row = schema.features(table(age=[None] * 4, town=[None] * 4))[0]
    np.testing.assert_array_equal(row[:4], [35, 1, 0, 0])


def test_missing_values_in_new_data_become_what_is_typical_of_training():
    schema, _ = schema_of(table())
    new = table(age=[None, 1, None, 2])
    np.testing.assert_array_equal(schema.features(new)[:, 0], [35, 1, 35, 2])
    assert schema.filled_in(new) == {"age": (2, 35.0)}


def test_missing_targets_are_an_error():
    data = table(**{"class": ["x", None, "y", "x"]})
    schema, _ = schema_of(data, impute="median")
    with pytest.raises(DataError, match=r"the target 'class' of people\.csv is missing in line 3:"):
        targets_of(data, schema)


def test_infinite_values_are_an_error():
    schema, _ = schema_of(table(age=[1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(DataError, match=r"column 'age' of people.csv contains infinite values"):
        schema.features(table(age=[1.0, float("inf"), 3.0, 4.0]))


# ---- new data -------------------------------------------------------------------------------


def test_lacking_columns_are_named():
    schema, _ = schema_of(table())
    data = Table("new.csv", PEOPLE.drop("age", "town"))
    with pytest.raises(DataError, match=r"new.csv lacks the columns 'age', 'town' that the model"):
        schema.features(data)


def test_columns_may_come_in_any_order_and_with_others():
    schema, _ = schema_of(table())
    other = PEOPLE.with_columns(extra=polars.lit(1)).select(
        "extra", "class", "married", "town", "age"
    )
    np.testing.assert_array_equal(
        schema.features(Table("new.csv", other)), schema.features(table())
    )


def test_new_categories_are_zero_and_counted():
    schema, _ = schema_of(table())
    data = table(town=["Rom", "Rom", "Bonn", "Ulm"])
    np.testing.assert_array_equal(schema.features(data)[0, 1:4], [0, 0, 0])
    assert schema.unseen(data) == {"town": 2}


def test_texts_in_place_of_numbers_are_an_error():
    schema, _ = schema_of(table())
    with pytest.raises(DataError, match=r"column 'age' of people.csv must hold numbers.*'old'"):
        schema.features(table(age=["old", "young", "old", "young"]))


def test_data_without_target_have_none():
    schema, _ = schema_of(table())
    assert targets_of(Table("new.csv", PEOPLE.drop("class")), schema) is None


def test_vectors_of_another_width_are_refused():
    schema, _ = schema_of(Vectors("a.svm", np.ones((3, 2)), None))
    with pytest.raises(DataError, match=r"b.svm has 3 features, the model was trained on 2"):
        schema.features(Vectors("b.svm", np.ones((3, 3)), None))


# ---- scales ---------------------------------------------------------------------------------


def test_numbers_are_standardised_and_categories_stay():
    plain, _ = schema_of(table())
    schema = standardised(plain, plain.features(table()))
    X = schema.features(table())
    assert X[:, 0].mean() == pytest.approx(0.0, abs=1e-15)
    assert X[:, 0].std() == pytest.approx(1.0)
    np.testing.assert_array_equal(X[:, 1:4], plain.features(table())[:, 1:4])


def test_constant_columns_stay_as_they_are():
    data = table(age=[7, 7, 7, 7])
    plain, _ = schema_of(data)
    schema = standardised(plain, plain.features(data))
    np.testing.assert_array_equal(schema.features(data)[:, 0], [7, 7, 7, 7])


def test_sparse_vectors_keep_their_zeros():
    X = sparse.csr_array([[0.0, 4.0], [2.0, 0.0]])
    data = Vectors("a.svm", X, None)
    plain, _ = schema_of(data)
    scaled = standardised(plain, X).features(data)
    np.testing.assert_array_equal(scaled.toarray(), [[0, 1], [1, 0]])


def test_many_categories_make_a_sparse_table():
    count = 3000
    towns = [f"town {i % 1400}" for i in range(count)]
    data = Table("t.csv", polars.DataFrame({"town": towns, "y": [0, 1] * (count // 2)}))
    schema, _ = schema_of(data)
    X = schema.features(data)
    assert sparse.issparse(X)
    assert X.shape == (count, 1400)
    assert X.nnz == count
