"""The form of the questions about one's own code: what it asks, and what becomes of its answers."""

import json
from types import SimpleNamespace

import pytest

from autograder.questions.notebook import CodeQuestions, answer_questions
from tfkit_lab import sealed
from tfkit_lab.own_code_widget import OwnCodeForm

ROW = {"id": "a", "line": 1, "call": "f(x)", "inputs": [], "options": [], "rows": 0, "explanation": "Since it does."}
FOUND = {
    "exercise": "masks.causal", "title": "A mask", "seed": 0, "code": "def f(x):\n    return x\n",
    "questions": [
        {**ROW, "kind": "number", "prompt": "How many `x`?", "key": 4},
        {**ROW, "kind": "shape", "prompt": "What shape?", "key": [7, 11]},
        {**ROW, "kind": "choice", "prompt": "Which?", "options": ["`a`", "b", "c"], "key": 1},
        {**ROW, "kind": "set", "prompt": "Which rows?", "rows": 3, "key": [0, 2]},
    ],
}  # fmt: skip


def test_the_form_asks_and_tells_what_the_code_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = CodeQuestions(FOUND)
    form = OwnCodeForm("masks.causal", shown._hidden(), shown.answer)
    assert "7, 11" not in str(form.form) and form.form["questions"][2]["options"] == ["a", "b", "c"]
    told = []
    form.display_handle = SimpleNamespace(update=lambda what, raw: told.append(what))
    with pytest.raises(ValueError, match="needs a finite number|could not convert"):
        form.answer({"do": "seal", "answers": ["much", [7, 11], ["b"], ["0", "2"]]})
    form.answer({"do": "seal", "answers": [4, [7, 11], ["b"], ["0"]]})
    assert told[0]["text/plain"].count("✓") == 3 and "Since it does." in told[0]["text/html"]
    assert (tmp_path / ".tfkit" / "questions.json").exists()


def test_skipping_stores_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    form = OwnCodeForm("masks.causal", CodeQuestions(FOUND)._hidden(), lambda _: pytest.fail("nothing was answered"))
    form.answer({"do": "pass"})
    assert form.sealed["answers"] is None and not (tmp_path / ".tfkit").exists()


def test_a_class_is_shown_how_many_answers_are_right(tmp_path, monkeypatch):
    shared, mine, root = (tmp_path / name for name in ("shared", "mine", "root"))
    for folder in (shared, mine, root):
        folder.mkdir()
    monkeypatch.setenv("TFKIT_PREDICTIONS", str(shared))
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    monkeypatch.chdir(mine)
    form = OwnCodeForm("masks.causal", CodeQuestions(FOUND)._hidden(), CodeQuestions(FOUND).answer)
    form.answer({"do": "seal", "answers": [4, [7, 11], ["b"], ["0"]]})
    (copied,) = shared.glob("*.json")
    assert "about_code" not in json.loads((mine / ".tfkit" / "predictions.json").read_text())  # only the copy has it
    (shown,) = sealed.of_class(root, str(shared))
    assert (shown["name"], shown["observed"]) == ("about_code.masks.causal", None)
    assert shown["questions"][0]["label"] == "Right answers about one's own code: masks.causal"
    assert [(one["student"], one["answers"]) for one in shown["by"]] == [("ada", [["3 / 4"]])]
    whole = json.loads(copied.read_text())
    for strange in (3, {"a": 3}, {"a": [2, 1, "now"]}, {"a": [1, 3]}, {"a": ["1", 3, "now"]}, {"a": [1, 10**9, "now"]}):
        copied.write_text(json.dumps({**whole, "about_code": strange}))
        assert sealed.of_class(root, str(shared)) == []


def test_answers_about_code_in_submissions_are_shown_too(tmp_path, monkeypatch):
    folder = tmp_path / "course" / "submitted" / "ada" / "02-masks"
    folder.mkdir(parents=True)
    for name in ("source", "autograded"):
        (tmp_path / "course" / name).mkdir()
    answer_questions(FOUND, (4, [7, 11], 2, [0]), folder)
    (shown,) = sealed.of_class(tmp_path, None)
    assert [(one["student"], one["answers"]) for one in shown["by"]] == [("ada", [["3 / 4"]])]
