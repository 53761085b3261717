"""Errors of methods that an estimator does not have for its parameters."""

import pytest

from maxmargin import SVC, AutoSVC, NuSVC, SVCSearch
from maxmargin.data import two_blobs

X, Y = two_blobs(40, random_state=0)


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        (SVC(), "set probability=True and fit again"),
        (NuSVC(nu=0.2), "set probability=True and fit again"),
        (AutoSVC(strategy="kta", probability=False), "leave probability out and fit again"),
        (SVCSearch(), "set probability=True and fit again"),
    ],
)
def test_error_of_missing_probabilities_names_the_remedy(model, remedy):
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=remedy):
        model.fit(X, Y).predict_proba(X)


def test_method_is_available_with_its_name_and_docstring():
    model = SVC(probability=True)
    assert model.predict_proba.__name__ == "predict_proba"
    assert "highest for the class" in type(model).predict_proba.__doc__
