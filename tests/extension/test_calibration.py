"""How sure students were, and how often that came true: asked, stored, shown to them and to the class's instructor."""

import json
from types import SimpleNamespace

import pytest

from autograder.feedback.translate import override_language
from tfkit_lab import calibration, lesson, prediction_card, sealed
from tfkit_lab import predict as asking
from tfkit_lab.calibration import CalibrationStep
from tfkit_lab.prediction_widget import Prediction
from tfkit_lab.questions import choice, number

ASKED = [number("How many?")]


def predicted(folder, name, answer, sure, came_out):
    sealed.seal(folder, name, ASKED, [answer], sure)
    if came_out is not None:
        sealed.add_outcome(folder, name, [came_out])


@pytest.fixture
def course(tmp_path):
    """Two units: of the first 90 % sure and wrong, then right; of the second 50 % sure and right, and what is open."""
    first, second = tmp_path / "02-masks", tmp_path / "03-heads"
    first.mkdir(), second.mkdir()
    predicted(first, "02.a", 3, 90, 4)
    predicted(first, "02.b", 4, 90, 4)
    predicted(second, "03.a", 4, 50, 4)
    predicted(second, "03.b", 4, 70, None)  # its result was not seen
    predicted(second, "03.c", 4, None, 4)  # left open
    return tmp_path


def test_a_curve_counts_what_came_true_in_all_units_of_a_student(course):
    found = calibration.own_steps(course / "03-heads")
    assert found == [CalibrationStep(50, 1, 1), CalibrationStep(90, 1, 2)]
    assert calibration.text(found).splitlines()[1:] == [
        "50 % sure: 1 of 1 came true (100 %)",
        "90 % sure: 1 of 2 came true (50 %)",
        "On the whole you were surer than right: 77 % sure, 67 % came true.",
    ]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([CalibrationStep(90, 9, 10)], "as sure as you were right"),
        ([CalibrationStep(90, 5, 10)], "surer than right"),
        ([CalibrationStep(10, 5, 10)], "less sure than"),
        ([], "Nothing to show yet"),
    ],
)
def test_the_picture_has_its_numbers_as_text_beside_it(steps, words):
    page = calibration.html(steps)
    assert words in page and words in calibration.text(steps)
    assert page.count("<circle") == page.count("<li>") == len(steps) and ('role="img"' in page) == bool(steps)


def test_the_curve_speaks_french():
    with override_language("fr"):
        page = calibration.html([CalibrationStep(10, 1, 1), CalibrationStep(90, 0, 2)])
    assert "plus sûr que juste" in page and "moins sûr" not in page and "Across" not in page and " sure" not in page


def test_how_sure_one_is_is_stored_with_the_answers_and_shown_on_the_card(tmp_path):
    widget = Prediction("02.a", ASKED, tmp_path, sure=True)
    assert widget.form["sure"] == list(sealed.SURE)
    assert "sure" not in Prediction("02.b", ASKED, tmp_path).form
    with pytest.raises(ValueError, match="one of 10, 30"):
        widget.answer({"do": "seal", "answers": [3], "sure": 99})
    widget.answer({"do": "seal", "answers": [3], "sure": 70})
    entry = sealed.read(tmp_path)["02.a"]
    assert entry["sure"] == 70
    assert "You were 70 % sure." in prediction_card.html("02.a", entry)
    assert "You were 70 % sure." in prediction_card.text("02.a", entry)


def test_what_somebody_wrote_into_the_file_is_no_sureness(tmp_path):
    predicted(tmp_path, "02.a", 3, 70, 3)
    path = tmp_path / sealed.FILE
    for wrong in (71, True, "70", [70], 1e400):
        path.write_text(path.read_text().replace('"sure": 70', f'"sure": {json.dumps(wrong)}'))
        assert sealed.read(tmp_path) == {}
        path.write_text(path.read_text().replace(f'"sure": {json.dumps(wrong)}', '"sure": 70'))
    assert sealed.read(tmp_path)["02.a"]["sure"] == 70


def test_a_class_is_told_of_what_it_was_surer_than_right():
    by = [{"answers": [3], "sure": 90}, {"answers": [4], "sure": 70}, {"answers": [3]}, {"answers": None}]
    found = [
        {"questions": ASKED, "observed": [4], "by": by},
        {"questions": ASKED, "observed": None, "by": by},
        {"questions": ASKED, "observed": [4], "by": [{"answers": [4]}]},
    ]
    calibration.add_to_class(found)
    assert [one["calibration"] for one in found] == [{"students": 2, "sure": 80, "right": 50}, None, None]


def test_several_questions_are_right_together():
    asked = [number("How many?"), choice("Which?", "a", "b")]
    assert calibration.outcome(asked, [3, ["a"]], [3, ["a"]]) is True
    assert calibration.outcome(asked, [3, ["b"]], [3, ["a"]]) is False
    assert calibration.outcome(asked, None, [3, ["a"]]) is calibration.outcome(asked, [3, ["a"]], None) is None


def test_predict_asks_and_draws_the_curve_in_a_notebook(course, monkeypatch):
    monkeypatch.chdir(course / "02-masks")
    monkeypatch.setattr(asking, "_shell", SimpleNamespace)
    monkeypatch.setattr(asking, "user_can_answer", lambda: True)
    made = []
    monkeypatch.setattr(
        "tfkit_lab.prediction_widget.Prediction", lambda *given: made.append(given) or SimpleNamespace()
    )
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda what, **_: shown.append(what))
    asking.predict("02.new", *ASKED, sure=True)
    asking.predict("02.other", *ASKED)
    asking.predict.curve()
    assert [given[-1] for given in made] == [True, False]
    assert "90 % sure: 1 of 2" in shown[-1]["text/plain"]


def test_reading_mode_knows_whether_it_is_asked(tmp_path):
    def cell(name, more):
        source = f'from tfkit_lab.predict import predict\n\npredict("{name}", predict.number("How many?"){more})'
        return {"cell_type": "code", "id": name[-1], "source": source, "metadata": {"tfkit": {"role": "predict"}}}

    path = tmp_path / "02.ipynb"
    whole = {"cells": [cell("02.a", ", sure=True"), cell("02.b", "")], "metadata": {"tfkit": {"unit": "02-masks"}}}
    path.write_text(json.dumps({**whole, "nbformat": 4, "nbformat_minor": 5}))
    assert [one["sure"] for one in lesson.read_lesson(path)["predictions"]] == [list(sealed.SURE), None]
    lesson.seal(path, "02.a", [3], 30)
    assert sealed.read(tmp_path)["02.a"]["sure"] == 30
