"""What a student reads of the questions exists in French; cards are escaped and hold no keys before the answers."""

import json

import polib
import pytest

from autograder.feedback.translate import OWN_FOLDER
from autograder.nbgrader import questions as counted
from autograder.questions import (
    card,
    dependence,
    expressions,
    graded,
    inputs,
    notebook,
    question,
    record,
    runs,
    variants,
    words,
)
from autograder.questions.notebook import AnsweredQuestions, CodeQuestions, QuestionsFailed, judge
from autograder.viva import page as viva

CODE = ("ANSWER", "GRADE_ID", "STYLE", "WIDGET")  # constants that nobody reads
FOUND = {
    "exercise": "masks.causal", "title": "A <mask>", "seed": 3, "code": "def f(x):\n    return x < 1\n",
    "questions": [
        {"id": "a", "kind": "shape", "line": 2, "prompt": "The shape of `x < 1`?", "options": [], "rows": 0,
         "call": "f(x)", "inputs": ["x = tensor([<1>])"], "key": [7, 11], "explanation": "Line 2 gives [7, 11]."},
        {"id": "b", "kind": "choice", "line": 2, "prompt": "What then?", "options": ["`<a>`", "b"], "rows": 0,
         "call": "f(x)", "inputs": ["x = tensor([<1>])"], "key": 1, "explanation": "It gives 7711."},
    ],
}  # fmt: skip


def sentences() -> dict[str, str]:
    """The upper-case texts of the modules, by name."""
    found = {}
    modules = (card, counted, dependence, expressions, graded, inputs, notebook, question, runs, variants, viva, words)
    for module in modules:
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, str) and name not in CODE:
                found[f"{module.__name__}.{name}"] = value
    tables = {"wanted": question.WANTED, "answers": words.ANSWERS, "after": expressions.AFTER}
    return found | {f"{name} {key}": value for name, table in tables.items() for key, value in table.items()}


def test_every_sentence_is_translated():
    french = {entry.msgid for entry in polib.pofile(str(OWN_FOLDER / "locale/fr.po")) if entry.msgstr}
    assert len(sentences()) > 45
    assert {name: text for name, text in sentences().items() if text not in french} == {}


def test_a_card_is_escaped_and_has_no_key():
    shown = CodeQuestions(FOUND)
    for page in (shown._repr_html_(), repr(shown)):
        assert "7, 11" not in page and "7711" not in page
    page = shown._repr_html_()
    assert "A &lt;mask&gt;" in page and "tensor([&lt;1&gt;])" in page and "<code>&lt;a&gt;</code>" in page
    assert "ask(&quot;masks.causal&quot;, [2, 3], 1)" in page


def test_answers_are_compared_and_explained():
    judged = judge(FOUND["questions"], ("7 x 11", 1))
    assert [one["right"] for one in judged] == [True, False]
    page = AnsweredQuestions(FOUND, judged, "")._repr_html_()
    assert "Line 2 gives [7, 11]." in page and "It gives 7711." in page and "tfkit-is-passed" in page


@pytest.mark.parametrize(
    ("answers", "why"),
    [(("[7, 11]",), "there are 2 questions, and 1 answers"), (("seven", 1), "1: Give the sizes"),
     (([7, 11], 3), "2: Give the number of one option, 1 to 2"), (([7, 11], 1.5), "2: Give the number")],
)  # fmt: skip
def test_answers_that_do_not_fit_are_refused(answers, why):
    with pytest.raises(QuestionsFailed, match=why.replace("[", r"\[")):
        judge(FOUND["questions"], answers)


@pytest.mark.parametrize(
    ("kind", "given", "read"),
    [("number", "2,5", 2.5), ("number", "2,50", 2.5), ("set", "none", []), ("set", "None of them ", []),
     ("number", 3, 3.0), ("shape", (2, 3), [2, 3]), ("set", "", []), ("set", [2, 0, 2], [0, 2]),
     ("choice", "2", 1)],
)  # fmt: skip
def test_answers_may_be_written_in_several_ways(kind, given, read):
    assert question.read_answer(kind, 3, 3, given) == read


@pytest.mark.parametrize("given", ["1,024", "-12,500"])
def test_a_comma_before_three_digits_is_not_guessed_at(given):
    with pytest.raises(question.BadAnswer, match="without a comma"):
        question.read_answer("number", 0, 0, given)


def test_statements_that_call_the_grader_are_left_out_of_a_cell():
    cell = "%matplotlib inline\ndef f(x):\n    return x\n\ncheck(\n    'masks.causal',\n)\ny = f(2)\n"
    left = notebook.without_calls(cell)
    assert "def f(x):" in left and "y = f(2)" in left and "check" not in left
    assert notebook.without_calls("ask('a')\nx = (") == "" == notebook.without_calls("if 1:\n    check('a')\n")
    assert "order" not in notebook.without_calls("order('masks.causal')\n")


def test_a_refusal_names_no_temporary_file():
    with pytest.raises(QuestionsFailed) as refused:
        notebook.questions_of("masks.causal", ["", "x = 1"], 0)
    assert "masks.causal" in str(refused.value) and "tfkit-ask" not in str(refused.value)


def test_a_record_with_half_a_character_can_be_written(tmp_path):
    (tmp_path / record.FILE).parent.mkdir()
    asked = [{"prompt": "\ud800", "answer": "1", "right": True}]
    whole = {"answered": {"\udfff": {"code": "\ud800", "at": "2026\ud800", "asked": asked}}}
    (tmp_path / record.FILE).write_text(json.dumps(whole))
    assert record.read(tmp_path)["?"][0]["asked"][0]["prompt"] == "?" == str(record.read(tmp_path)["?"][0]["code"])


def test_only_the_first_answers_are_kept(tmp_path):
    first = notebook.answer_questions(FOUND, ([7, 11], 2), tmp_path)
    second = notebook.answer_questions(FOUND, ([1, 1], 1), tmp_path)
    assert first.right == 2 and "answered before" in repr(second) and "answered before" not in repr(first)
    (kept,) = record.read(tmp_path)["masks.causal"]
    assert [one["right"] for one in kept["asked"]] == [True, True]


def test_questions_that_were_answered_are_shown_with_their_answers(tmp_path):
    assert notebook.earlier_answers(FOUND, tmp_path) is None
    notebook.answer_questions(FOUND, ([7, 11], 1), tmp_path)
    again = notebook.earlier_answers(FOUND, tmp_path)
    assert again.right == 1 and "answered before" in repr(again) and "your answer: `<a>`" in repr(again)
    assert notebook.earlier_answers({**FOUND, "code": "def f(x):\n    return 1 > x\n"}, tmp_path) is None
    others = [{**FOUND["questions"][0], "prompt": "Another?"}, FOUND["questions"][1]]
    assert notebook.earlier_answers({**FOUND, "questions": others}, tmp_path) is None


def test_answers_about_several_versions_of_the_code_are_kept(tmp_path):
    for number in range(record.VERSIONS + 2):
        notebook.answer_questions({**FOUND, "code": f"{number}"}, ([7, 11], 1), tmp_path)
    entries = record.read(tmp_path)["masks.causal"]
    assert len(entries) == record.VERSIONS and record.find_entry(entries, record.digest("0", 3)) is None
    assert record.find_entry(entries, record.digest(str(record.VERSIONS), 3))["asked"][1]["value"] == 1


def test_the_cell_that_counts_says_what_is_left(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    notebook.answer_questions(FOUND, ([7, 11], 1), tmp_path)
    notebook.questions_answered("masks.causal", "masks.padding")
    assert capsys.readouterr().out == (
        "The questions of 1 of 2 exercises are answered.\nNot yet answered: masks.padding\n"
    )


@pytest.mark.parametrize("value", [None, "4", {}, [[1]], [1] * 65, 1e400, [True], 10**400], ids=str)
def test_an_answer_that_is_no_number_is_read_as_none(value):
    asked = [{"prompt": "a", "answer": "b", "right": True, "of": "c", "value": value}]
    found = record.parse({"answered": {"a": [{"code": "d", "at": "e", "asked": asked}]}})
    assert found["a"][0]["asked"][0]["value"] is None


@pytest.mark.parametrize("text", ["", "[", "[]", '{"answered": 3}', '{"answered": {"a": {"asked": [1]}}}'])
def test_a_record_of_any_kind_is_read_as_none(tmp_path, text):
    (tmp_path / record.FILE).parent.mkdir()
    (tmp_path / record.FILE).write_text(text)
    assert record.read(tmp_path) == {}
    assert json.dumps(record.read(tmp_path)) == "{}"
