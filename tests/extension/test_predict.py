"""Predictions: questions, sealing, the file and the folder of a class, the card, and what stops a cell below."""

import json
import os
import stat
from types import SimpleNamespace

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tfkit_lab import calibration, prediction_card, sealed
from tfkit_lab import predict as module
from tfkit_lab.predict import NotPredicted, predict, predicted
from tfkit_lab.prediction_widget import Prediction, SecondVote
from tfkit_lab.questions import check_answers, is_right

QUESTIONS = [
    predict.number("How many?", within=0.5),
    predict.numbers("Which three?", 3),
    predict.shape("What shape?"),
    predict.choice("Which?", "the first", "the second"),
    predict.choice("Which of them?", "a", "b", "c", several=True),
    predict.mask("Where?", 2, ["x", "y"]),
]
ANSWERS = [4, [1, 2.5, 3], [2, 3], ["the first"], ["a", "c"], [[True, False], [False, False]]]


@pytest.fixture
def somebody(tmp_path, monkeypatch):
    """A notebook's folder, with somebody who could answer; what is displayed."""
    shown = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "_shell", lambda: InteractiveShell)
    monkeypatch.setattr(module, "user_can_answer", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda what, **_: shown.append(what))
    return shown


def test_answers_of_every_kind_are_kept_as_they_are():
    assert check_answers(QUESTIONS, ANSWERS) == ANSWERS


@pytest.mark.parametrize(
    "place, wrong",
    [
        (0, "four"),
        (0, float("nan")),
        (0, None),
        (1, [1, 2]),
        (2, [-1]),
        (3, ["the third"]),
        (3, []),
        (4, ["d"]),
        (5, [[True]]),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_in_words(place, wrong):
    answers = [wrong if n == place else answer for n, answer in enumerate(ANSWERS)]
    with pytest.raises(ValueError, match=QUESTIONS[place]["label"][:-1]):
        check_answers(QUESTIONS, answers)


def test_what_comes_out_may_be_a_tensor():
    came_out = [torch.tensor([4.0]), torch.tensor([1, 2.5, 3]), torch.zeros(2, 3).shape, "the first", ["c", "a"],
                torch.tensor([[True, False], [False, False]])]  # fmt: skip
    assert check_answers(QUESTIONS, came_out) == ANSWERS
    assert check_answers([predict.mask("Which?", 1, 3)], [torch.tensor([1, 0, 1])]) == [[[True, False, True]]]


def test_a_number_may_be_off_by_what_the_question_allows():
    assert is_right(QUESTIONS[0], 4.4, 4) and not is_right(QUESTIONS[0], 4.6, 4)
    assert is_right(QUESTIONS[1], [0.3], [0.1 + 0.2]) and not is_right(QUESTIONS[1], [1, 2], [1, 2, 3])
    assert not is_right(QUESTIONS[5], None, [[True]])


def test_questions_without_a_choice_or_a_table_are_refused():
    with pytest.raises(ValueError, match="two options"):
        predict.choice("Which?", "a", "a")
    with pytest.raises(ValueError, match="cells"):
        predict.mask("Where?", 0, 3)
    with pytest.raises(ValueError, match="has no questions"):
        predict("01.x")


def test_in_a_browser_tab_a_user_can_always_answer(monkeypatch):
    monkeypatch.setattr(module, "_shell", lambda: SimpleNamespace(kernel=None))  # its kernel has no allow_stdin
    assert not module.user_can_answer()
    monkeypatch.setattr(module.sys, "platform", "emscripten")
    assert module.user_can_answer()


def test_a_prediction_is_sealed_once_and_survives_reopening(somebody, tmp_path):
    widget = Prediction("01.x", QUESTIONS, tmp_path)
    with pytest.raises(NotPredicted, match="Predict first"):
        predicted("01.x")
    widget._answered(widget, {"do": "seal", "answers": ANSWERS[:2]}, [])
    assert "answer each question" in widget.problem and widget.sealed is None
    widget._answered(widget, {"do": "seal", "answers": ANSWERS}, [])
    assert widget.problem == "" and widget.sealed["answers"] == ANSWERS
    widget._answered(widget, {"do": "seal", "answers": ANSWERS}, [])
    assert "made only once" in widget.problem
    predict("01.x", *QUESTIONS)  # as after a restart: the card, and no widget
    assert "sealed" in somebody[-1]["text/plain"]
    predicted("01.x").compare(4, [1, 2.5, 3], (2, 3), "the first", ["a", "c"], torch.eye(2))
    assert "5 of 6 as you predicted" in somebody[-1]["text/plain"]
    assert sealed.read(tmp_path)["01.x"]["observed"][5] == [[True, False], [False, True]]
    assert somebody[-1]["text/html"].count("tfkit-wrong") > 1  # the style sheet's, and the cell's that differs


def test_a_class_that_has_talked_votes_once_more_until_the_result_is_known(somebody, tmp_path):
    with pytest.raises(NotPredicted, match="Predict first"):
        predict.again("01.x")
    Prediction("01.x", QUESTIONS[:1], tmp_path).answer({"do": "seal", "answers": [4]})
    predict.again("01.x")
    widget = somebody[-1]
    assert isinstance(widget, SecondVote) and widget.sealed is None
    widget._answered(widget, {"do": "seal", "answers": ["many"]}, [])
    assert "could not convert" in widget.problem
    widget._answered(widget, {"do": "pass"}, [])
    assert "again" not in sealed.read(tmp_path)["01.x"]
    SecondVote("01.x", QUESTIONS[:1], tmp_path).answer({"do": "seal", "answers": [7]})
    entry = sealed.read(tmp_path)["01.x"]
    assert (entry["answers"], entry["again"]) == ([4], [7])
    with pytest.raises(sealed.AlreadySealed, match="only once"):
        sealed.vote_again(tmp_path, "01.x", [8])
    predict.again("01.x")  # now a card
    assert "predicted 4, after talking 7" in somebody[-1]["text/plain"]
    predicted("01.x").compare(7)
    assert "01.x: ≠ not as you predicted" in somebody[-1]["text/plain"]  # the first answers are compared
    assert somebody[-1]["text/html"].split("</style>")[1].count("<td>") == 4
    Prediction("01.y", QUESTIONS[:1], tmp_path).answer({"do": "seal", "answers": [4]})
    predicted("01.y").compare(4)
    with pytest.raises(ValueError, match="its result is known"):
        sealed.vote_again(tmp_path, "01.y", [5])


def test_a_class_has_both_votes(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setenv(sealed.FOLDER, str(shared))
    for student, first, second in (("ada", 4, 7), ("bob", 7, None)):
        folder = tmp_path / student
        folder.mkdir()
        monkeypatch.setenv("JUPYTERHUB_USER", student)
        sealed.seal(folder, "03.attentions", QUESTIONS[:1], [first])
        if second:
            sealed.vote_again(folder, "03.attentions", [second])
    (shown,) = sealed.of_class(tmp_path / "nothing", str(shared))
    assert [(one["answers"], one.get("again")) for one in shown["by"]] == [([4], [7]), ([7], None)]
    (copied,) = shared.glob("ada.*.json")
    whole = json.loads(copied.read_text())
    whole["predictions"]["03.attentions"]["again"] = ["x"]
    copied.write_text(json.dumps(whole))
    (shown,) = sealed.of_class(tmp_path / "nothing", str(shared))
    assert [one["student"] for one in shown["by"]] == ["bob"]  # what nobody's lab writes is left out


def test_who_passes_may_go_on_and_is_shown_what_came_out(somebody, tmp_path):
    Prediction("01.x", QUESTIONS[:1], tmp_path).answer({"do": "pass"})
    predicted("01.x").compare(7)
    assert somebody[-1]["text/plain"].splitlines() == ["01.x: what came out", "  How many? predicted –, came out 7"]


def test_a_comparison_that_does_not_fit_its_questions_is_an_error_of_the_lesson(somebody, tmp_path):
    Prediction("01.x", QUESTIONS[:1], tmp_path).answer({"do": "pass"})
    with pytest.raises(ValueError, match="1 questions, but is compared with 2"):
        predicted("01.x").compare(7, 8)


def test_the_card_escapes_what_was_typed_and_says_more_than_colours():
    question = predict.choice("Is <b> larger?", "<i>", "no")
    entry = {"questions": [question], "answers": [["<i>"]], "observed": [["no"]], "at": ""}
    page = prediction_card.html("01.x", entry).split("</style>")[1]
    assert "<i>" not in page and "<b>" not in page and "≠ not as you predicted" in page


def test_nobody_is_asked_where_nobody_could_answer(tmp_path):
    ask = 'from tfkit_lab.predict import predict, predicted\npredict("01.x", predict.number("How many?"))'
    cells = [new_code_cell(ask), new_code_cell('guess = predicted("01.x")\nguess.compare(3)')]
    notebook = new_notebook(cells=cells)
    NotebookClient(
        notebook, timeout=100, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert notebook.cells[0].outputs == [] and "came out 3" in notebook.cells[1].outputs[0].data["text/plain"]
    assert not (tmp_path / sealed.FILE).exists()


def test_somebody_who_could_answer_has_to_predict_first(tmp_path):
    cell = new_code_cell('from tfkit_lab.predict import predicted\nguess = predicted("01.x")\nprint("went on")')
    client = NotebookClient(
        new_notebook(cells=[cell]), timeout=100, kernel_name="python3", allow_errors=True,
        resources={"metadata": {"path": str(tmp_path)}},
    )  # fmt: skip
    with client.setup_kernel():
        client.kc.allow_stdin = True  # as a front end says with each cell
        client.execute_cell(cell, 0)
    assert [out.get("traceback") for out in cell.outputs] == [[module.NOT_SEALED]]


def test_who_skipped_a_prediction_is_told_that_there_is_no_second_vote_and_goes_on(
    somebody, tmp_path, capsys, monkeypatch
):
    sealed.seal(tmp_path, "01.x", [], None)
    predict.again("01.x")
    assert capsys.readouterr().out.startswith("You skipped this prediction") and somebody == []
    monkeypatch.setenv("LANGUAGE", "fr")
    predict.again("01.x")
    assert capsys.readouterr().out.startswith("Vous avez passé cette prédiction")
    with pytest.raises(NotPredicted, match="Prédisez d'abord"):
        predicted("01.y")


def test_a_class_meets_in_a_folder_under_names_that_nobody_guesses(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setenv(sealed.FOLDER, str(shared))
    for student, answer in (("ada", 3), ("ben", 4)):
        (tmp_path / student).mkdir()
        monkeypatch.setenv("JUPYTERHUB_USER", student)
        sealed.seal(tmp_path / student, "01.x", QUESTIONS[:1], [answer])
    sealed.add_outcome(tmp_path / "ben", "01.x", [4])
    assert len(list(shared.iterdir())) == 2 and all(len(path.stem.split(".")[1]) == 16 for path in shared.iterdir())
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o644 for path in shared.iterdir())
    (found,) = sealed.of_class(tmp_path / "course", str(shared))
    assert [(by["student"], by["answers"]) for by in found["by"]] == [("ada", [3]), ("ben", [4])]
    assert found["observed"] == [4]


@pytest.mark.parametrize(("answer", "more"), [("1" + "0" * 400, ""), ("3", ', "unit": NaN'), ("3", ', "unit": 1e999')])
def test_a_number_that_no_browser_reads_closes_the_view_for_nobody_else(tmp_path, answer, more):
    question = json.dumps(QUESTIONS[0])
    for student, given, other in (("ada", answer, question[:-1] + more + "}"), ("ben", "3", question)):
        entry = f'{{"questions": [{other}], "answers": [{given}], "at": "2026"}}'
        (tmp_path / f"{student}.t.json").write_text(
            f'{{"student": "{student}", "predictions": {{"03.attentions": {entry}}}}}'
        )
    (found,) = sealed.of_class(tmp_path / "none", str(tmp_path))
    assert [by["student"] for by in found["by"]] == ["ben"]
    json.dumps(found, allow_nan=False)


def test_questions_that_one_student_changed_are_not_those_of_the_class(tmp_path):
    """The first file decided: one that was changed hid what all others had predicted."""
    for student, label in (("aaron", "forged"), ("ben", "Heads?"), ("cleo", "Heads?")):
        entry = {"questions": [{**QUESTIONS[0], "label": label}], "answers": [3], "at": "2026"}
        whole = {"student": student, "predictions": {"01.x": entry}}
        (tmp_path / f"{student}.t.json").write_text(json.dumps(whole))
    (found,) = sealed.of_class(tmp_path / "none", str(tmp_path))
    assert [by["student"] for by in found["by"]] == ["ben", "cleo"] and found["questions"][0]["label"] == "Heads?"


def put(folder, student, questions, name="01.x", **more):
    entry = {"questions": questions, "answers": None, "at": "2026", **more}
    (folder / f"{student}.t.json").write_text(json.dumps({"student": student, "predictions": {name: entry}}))


@pytest.mark.parametrize(
    "more", [{"within": "x"}, {"within": 10**400}, {"within": -1}, {"rows": 5}, {"of": [[0]]}, {"of": {"deep": 1}}]
)
def test_questions_that_no_answer_can_be_compared_to_close_the_view_for_nobody_else(tmp_path, more):
    put(tmp_path, "aaron", [{**QUESTIONS[0], **more}], "03.attentions", answers=[4], observed=[4], sure=90)
    put(tmp_path, "ben", QUESTIONS[:1], "03.attentions", answers=[4], observed=[4], sure=90)
    found = sealed.of_class(tmp_path / "none", str(tmp_path))
    calibration.add_to_class(found)
    assert [by["student"] for by in found[0]["by"]] == ["ben"]
    assert found[0]["calibration"] == {"students": 1, "sure": 90, "right": 100}


@pytest.mark.parametrize(("place", "given"), [(0, {"observed": [None]}), (1, {"observed": [None]}),
                                              (5, {"answers": [None]}), (5, {"again": [None]})])  # fmt: skip
def test_a_result_or_a_mask_that_is_nothing_closes_the_view_for_nobody_else(tmp_path, place, given):
    """A class was shown nothing after one student had noted that nothing came out, or answered a mask with nothing."""
    answers = ANSWERS[place : place + 1]
    put(tmp_path, "aaron", QUESTIONS[place : place + 1], "03.attentions", **{"answers": answers, "sure": 90, **given})
    put(tmp_path, "ben", QUESTIONS[place : place + 1], "03.attentions", answers=answers, sure=90)
    found = sealed.of_class(tmp_path / "none", str(tmp_path))
    calibration.add_to_class(found)
    assert [by["student"] for by in found[0]["by"]] == ["ben"] and found[0]["observed"] is None


def test_an_entry_without_answers_closes_the_view_for_nobody_else(tmp_path):
    """Without the word itself, which stands for a skipped question where it says null."""
    for student in ("aaron", "ben"):
        put(tmp_path, student, QUESTIONS[:1], "03.attentions")
    file = tmp_path / "aaron.t.json"
    whole = json.loads(file.read_text())
    del whole["predictions"]["03.attentions"]["answers"]
    file.write_text(json.dumps(whole))
    found = sealed.of_class(tmp_path / "none", str(tmp_path))
    calibration.add_to_class(found)
    assert [by["student"] for by in found[0]["by"]] == ["ben"]


def test_a_time_to_come_does_not_open_the_view_at_the_prediction_of_one_student(tmp_path):
    put(tmp_path, "aaron", QUESTIONS[:1], "03.attentions", answers=[4], at="9999-01-01T00:00:00+00:00")
    put(tmp_path, "ben", QUESTIONS[:1], "03.attentions", answers=[4], at="2026-01-01T00:00:00+00:00")
    (found,) = sealed.of_class(tmp_path / "none", str(tmp_path))
    assert [by["at"] for by in found["by"]] == ["", "2026-01-01T00:00:00+00:00"]


def test_a_question_that_is_nested_deep_closes_the_view_for_nobody_else(tmp_path):
    """What a thread reads and writes at some depth cannot be sent by the server, which is called from more places."""
    put(tmp_path, "ben", QUESTIONS[:1], "03.attentions")
    text, deep = (tmp_path / "ben.t.json").read_text().replace("ben", "aaron"), "[" * 500 + "]" * 500
    (tmp_path / "aaron.t.json").write_text(text.replace('"kind"', f'"of": {deep}, "kind"'))
    (found,) = sealed.of_class(tmp_path / "none", str(tmp_path))
    assert [by["student"] for by in found["by"]] == ["ben"]


@pytest.mark.parametrize("options", [5, "text", {"a": 1}, [{}], ["x" * 500]])
def test_options_that_no_browser_draws_close_the_view_for_nobody_else(tmp_path, options):
    put(tmp_path, "aaron", [{"kind": "choice", "label": "Which?", "options": options}], "03.attentions")
    put(tmp_path, "ben", QUESTIONS[3:4], "03.attentions")
    (found,) = sealed.of_class(tmp_path / "none", str(tmp_path))
    assert [by["student"] for by in found["by"]] == ["ben"]


def test_a_prediction_that_one_student_made_up_is_not_shown_beside_those_of_the_course(tmp_path):
    """4,500 of them stood before the class's own in the list."""
    put(tmp_path, "mallory", QUESTIONS[:1], "00001")
    put(tmp_path, "ada", QUESTIONS[:1], "03.attentions")
    assert [one["name"] for one in sealed.of_class(tmp_path / "none", str(tmp_path))] == ["03.attentions"]
    put(tmp_path, "ada", QUESTIONS[:1], "00001")  # of a course of one's own, which more than one take
    assert [one["name"] for one in sealed.of_class(tmp_path / "none", str(tmp_path))] == ["00001"]


def test_what_came_out_is_what_most_students_say(tmp_path):
    """The first file decided what the whole class was shown as the result."""
    for student, observed in (("aaron", [3]), ("ben", [4]), ("cleo", [4])):
        put(tmp_path, student, QUESTIONS[:1], observed=observed)
    (found,) = sealed.of_class(tmp_path / "none", str(tmp_path))
    assert found["observed"] == [4]


def test_what_was_handed_in_counts_for_whom_nbgrader_says(tmp_path):
    course = tmp_path / "course"
    for folder in ("source", "autograded"):
        (course / folder).mkdir(parents=True)
    home = course / "submitted" / "chen" / "03-heads"
    home.mkdir(parents=True)
    sealed.seal(home, "03.attentions", QUESTIONS[:1], [5])
    assert [by["student"] for one in sealed.of_class(tmp_path, None) for by in one["by"]] == ["chen"]


@pytest.mark.parametrize(
    "spoiled",
    ["{", "[]", '{"predictions": 3}', '{"predictions": {"a": {"at": "", "questions": [{"kind": "evil"}]}}}', "[" * 5000,
     '{"predictions": {"a": {"at": "", "questions": [{"kind": "number", "label": ""}], "answers": ["<script>"]}}}'],
)  # fmt: skip
def test_a_spoiled_file_is_no_prediction(tmp_path, spoiled):
    (tmp_path / ".tfkit").mkdir()
    (tmp_path / sealed.FILE).write_text(spoiled)
    assert sealed.read(tmp_path) == {}


def test_a_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError("no")

    monkeypatch.setattr(os, "replace", refuse)
    widget = Prediction("01.x", QUESTIONS[:1], tmp_path)
    widget._answered(widget, {"do": "seal", "answers": [3]}, [])
    assert "could not be stored" in widget.problem and widget.sealed is None
    assert json.dumps(widget.form)


def test_students_are_numbered_in_the_order_in_which_they_said_something():
    by = [{"student": "chen", "at": "2"}, {"student": "ada", "at": "3"}]
    found = [{"by": by}, {"by": [{"student": "ada", "at": "1"}]}]
    sealed.hide_names(found)
    assert [[one["student"] for one in prediction["by"]] for prediction in found] == [["2", "1"], ["1"]]
