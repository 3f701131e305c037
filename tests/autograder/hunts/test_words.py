"""What a student reads of a hunt exists in French, and is escaped."""

import polib
import pytest
import torch

from autograder.feedback.translate import OWN_FOLDER
from autograder.hunts import (
    card,
    judge,
    notebook,
    own_test,
    page_judge,
    page_symptom,
    picture,
    symptom,
    terminal,
    words,
)
from autograder.sandbox.client import StudentError

TASK = {
    "exercise": "masks.causal", "title": "A <mask>", "seed": 3, "faults": 1, "symbols": ["causal_mask"],
    "code": "def f(x):\n    return x < 1\n",
    "symptom": {"seen_in": "values", "call": "f", "inputs": {"x": [1.0, 2.0], "n": 3}, "part": "[0]",
                "faulty": [[True, False]], "right": [[False, False]], "wrong": [[True, False]],
                "words": ["It <stops>."], "notes": ["A part."], "map": ["●▲", "·●"]},
}  # fmt: skip
VERDICT = {
    "exercise": "masks.causal", "status": "failed", "score": 1.4, "max_score": 4.0, "sandbox": "bubblewrap",
    "parts": [
        {"name": "lines", "status": "not_run", "points": 0.0, "of": 1.0, "sentences": ["Nothing."], "missed": []},
        {"name": "test", "status": "passed", "points": 1.4, "of": 1.5, "sentences": ["It says: <b>"],
         "missed": ["only_itself", "nothing_hidden"]},
    ],
}  # fmt: skip
CODE = (
    "MODULE",
    "PRELUDE",
    "RUN_TEST",
    "ANSWER",
    "CALL",
    "BROWSER",
    "UNDER_TEST",
    "RIGHT",
    "START",
    "TEXT",
)  # constants that nobody reads


def sentences() -> dict[str, str]:
    """The upper-case texts of the modules, by name."""
    found = {}
    for module in (card, judge, notebook, own_test, page_judge, page_symptom, picture, symptom, terminal, words):
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, str) and name not in CODE:
                found[f"{module.__name__}.{name}"] = value
    kinds = {**words.NAMES, **page_judge.KINDS, **{kind: kind for kind in page_judge.KINDS}}
    return found | {f"name {key}": value for key, value in kinds.items()}


def test_every_sentence_is_translated() -> None:
    french = {entry.msgid for entry in polib.pofile(str(OWN_FOLDER / "locale/fr.po")) if entry.msgstr}
    assert len(sentences()) > 40
    assert {name: text for name, text in sentences().items() if text not in french} == {}


def test_the_card_of_a_hunt_shows_the_code_with_numbers_and_the_symptom() -> None:
    page = card.task_html(TASK, "hunt.check(lines=[3])")
    for text in ("A &lt;mask&gt;", '<span class="tfkit-h-number">2</span>    return x &lt; 1', "f(x, n=3)",
                 "It &lt;stops&gt;.",
                 "this code gives[0]", "right code gives[0]", "✗ True", "▲", "hunt.check(lines=[3])"):  # fmt: skip
        assert text in page, text


def test_the_card_of_a_whole_model_draws_where_it_differs_and_how_it_learns() -> None:
    seen = {**TASK["symptom"], "bars": [["embed", 0.0], ["<layer>", 0.5]], "curves": [[3.0, 0.1], [3.0, 2.0]]}
    page = card.task_html({**TASK, "symptom": seen})
    for text in (
        "embed: equal, &lt;layer&gt;: 50 %",
        ">&lt;layer&gt;</text>",
        "3.00 → 0.10 / 3.00 → 2.00",
        'fill="none"',
    ):
        assert text in page, text


def test_the_card_of_a_verdict_has_a_part_for_each_part() -> None:
    page = card.verdict_html(VERDICT)
    for text in ("tfkit-is-failed", "1.4 of 4", "– The lines that you suspect: 0 of 1 points", "It says: &lt;b&gt;",
                 "✓ Your test: 1.4 of 1.5 points", "only itself, nothing hidden"):  # fmt: skip
        assert text in page, text


def test_the_terminal_shows_the_same() -> None:
    shown = terminal.task_text(TASK)
    assert "  2      return x < 1" in shown and "f(x, n=3)" in shown and "✗True" in shown and "●▲" in shown
    assert "✓ Your test: 1.4 of 1.5 points" in terminal.verdict_text(VERDICT)


def test_a_french_reader_reads_french(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "fr")
    assert "Chasse aux fautes" in card.task_html(TASK) and "Le symptôme" in terminal.task_text(TASK)
    assert "(masks.causal, graine 3)" in terminal.task_text(TASK)
    assert "Votre test\u00a0: 1.4 sur 1.5 points" in terminal.verdict_text(VERDICT)
    alone = VERDICT | {"sandbox": "subprocess"}
    assert "NON ISOLÉ" in terminal.verdict_text(alone) and "NON ISOLÉ" in card.verdict_html(alone)
    assert "fonctions ou classes de ce notebook" in notebook.NotebookHunt(TASK, [])._repr_html_()
    assert symptom._kind(torch.zeros(1)) == "tenseur float32"
    error = StudentError("exception", "no", traceback='File "<test>", line 3, in test_it')
    assert own_test.error_text(error) == "no (ligne 3)"
