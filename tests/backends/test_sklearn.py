import joblib
import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from dissensus.arrays import MISSING
from dissensus.backends import Preprocess, open_model
from dissensus.errors import BackendError
from dissensus.records import Classes

DIGITS = load_digits()
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SETTINGS = {"channels": "gray", "crop": 1, "scale": 1 / 15, "resample": "nearest"}


@pytest.fixture(scope="module")
def images():
    return [Image.fromarray((digit * 15).astype(np.uint8)) for digit in DIGITS.images[:200]]


def opened(tmp_path, estimator, **settings):
    joblib.dump(estimator, tmp_path / "model.joblib")
    return open_model("sklearn", str(tmp_path / "model.joblib"), Preprocess.read(SETTINGS | settings), Classes(WORDS))


def test_probabilities(tmp_path, images):
    fitted = GaussianNB().fit(DIGITS.data, DIGITS.target)
    labels, confidence, *_ = opened(tmp_path, fitted).predict(images)
    assert (labels == fitted.predict(DIGITS.data[:200])).all()
    np.testing.assert_allclose(confidence, fitted.predict_proba(DIGITS.data[:200]).max(axis=1), rtol=1e-3)


def test_names_in_another_order_and_only_some_classes(tmp_path, images):
    some = DIGITS.target < 4
    fitted = GaussianNB().fit(DIGITS.data[some], np.asarray(WORDS)[DIGITS.target[some]])  # one, three, two, zero
    labels, _, further = opened(tmp_path, fitted).predict(images)
    assert [WORDS[label] for label in labels] == fitted.predict(DIGITS.data[:200]).tolist()
    known = [sorted([label, *row[:3]]) for label, row in zip(labels.tolist(), further.tolist(), strict=True)]
    assert known == [[0, 1, 2, 3]] * len(images)
    assert (further[:, 3] == MISSING).all()


def test_margins_are_no_probabilities_unless_asked_for(tmp_path, images):
    fitted = LinearSVC(max_iter=300, tol=0.1).fit(DIGITS.data, DIGITS.target)
    expected = fitted.predict(DIGITS.data[:200])
    labels, confidence, *_ = opened(tmp_path, fitted).predict(images)
    assert (labels == expected).all()
    assert np.isnan(confidence).all()
    labels, confidence, *_ = opened(tmp_path, fitted, outputs="logits").predict(images)
    assert (labels == expected).all()
    assert ((confidence > 0) & (confidence <= 1)).all()


def test_one_margin_for_two_classes_and_none_at_all(tmp_path, images):
    two = DIGITS.target < 2
    fitted = LogisticRegression(max_iter=50).fit(DIGITS.data[two], DIGITS.target[two])
    by_margin = opened(tmp_path, fitted, outputs="logits").predict(images)
    by_probability = opened(tmp_path, fitted).predict(images)
    assert (by_margin[0] == by_probability[0]).all()
    np.testing.assert_allclose(by_margin[1], by_probability[1], rtol=1e-4)
    voters = VotingClassifier([("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=4))], voting="hard")
    voters.fit(DIGITS.data, DIGITS.target)
    labels, confidence, *_ = opened(tmp_path, voters).predict(images)
    assert (labels == voters.predict(DIGITS.data[:200])).all()
    assert np.isnan(confidence).all()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        ({"weights": 1}, "contains a dict: save a fitted classifier"),
        (GaussianNB(), "contains a GaussianNB: save a fitted classifier"),
        (LinearRegression().fit(DIGITS.data, DIGITS.target), "contains a LinearRegression"),
        (GaussianNB().fit(DIGITS.data, DIGITS.target + 1), "classes_ from 1 to 10 are not indices of"),
        (
            GaussianNB().fit(DIGITS.data, [f"digit {n}" for n in DIGITS.target]),
            "no such class 'digit 0'",
        ),
        (GaussianNB().fit(DIGITS.data[:, :60], DIGITS.target), "60 features do not make a square image"),
    ],
)
def test_bad_estimators(tmp_path, estimator, message):
    with pytest.raises(BackendError, match=message):
        opened(tmp_path, estimator)
