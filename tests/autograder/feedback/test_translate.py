"""The card's words in the reader's language: all of them are there, with the same parts, and English needs none."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import polib
import pytest

import autograder
from autograder.api import PROPERTIES, CheckResult, Verdict
from autograder.checking import notebook
from autograder.diagnosis import conditions, facts, kinds, mutations, shares, transformations
from autograder.exercises import registry
from autograder.feedback import matrix, messages, words
from autograder.feedback.html import STEP_COLUMNS, verdict_html
from autograder.feedback.text import verdict_text
from autograder.grade.run import grade_source
from autograder.grade.verdict import NOTHING_FITS
from autograder.localize import value_changes
from autograder.sandbox import choose

ROOT = Path(autograder.__file__).parent
CATALOGUES = [path for path in sorted((ROOT / "locale").glob("*.po")) if polib.pofile(str(path)).translated_entries()]
TABLES = (kinds.CHANGES, kinds.ENTRIES, facts.NUMBERS, facts.TRUTHS, facts.INFINITE, facts.PLACES, facts.MIXTURES,
          facts.ENTRY_PLACES, shares.SEQUENCES, transformations.OUTPUT, transformations.INSIDE)  # fmt: skip
SENTENCES = (
    *mutations.OPERATOR_SENTENCES.values(), mutations.ONE_PLACE, mutations.SEVERAL_PLACES,
    mutations.INTERMEDIATE_VALUE, *facts.GRADIENT_SENTENCES.values(), *facts.ORDINALS,
    facts.MORE, facts.FEWER, facts.LONGER, facts.SHORTER, *shares.WORDS.values(), *kinds.SIZES,
    *kinds.PROPERTY_SENTENCES.values(),
    *value_changes.SENTENCES, conditions.ONE, conditions.SEVERAL, conditions.SAME, conditions.DIFFERENT,
    "where {name} is given", "where {name} is not given",
)  # fmt: skip
CONSTANTS = {*words.STATES.values(), *words.NAMES.values(), words.UNEARNED, matrix.FLOW, matrix.HOLDS, NOTHING_FITS}
NAMED = {*PROPERTIES} - {"shapes"} | {name for names in words.AXES.values() for name in names}
EXAMPLE = {"call": "f", "inputs": {"x": [[1.0, 2.0]]}, "yours": [[1.0, 3.0]], "wrong": [[False, True]],
           "message": "", "expected_shape": None, "entry": [0, 1], "first_wrong_entry": [0, 1]}  # fmt: skip
CHECKS = (
    CheckResult(
        name="right",
        status="failed",
        message="the result[0] at [0, 1] is off by 2 (1 of 2 entries differ)",
        of=1.0,
        property="values",
    ),
    CheckResult(name="gradients", status="passed", of=1.0, property="gradients"),
)
VERDICT = Verdict(exercise="a.b", status="failed", score=0, max_score=2, checks=CHECKS, counterexample=EXAMPLE)


def spoken() -> set[str]:
    """Every literal text that is said."""
    calls = [node for file in ROOT.rglob("*.py") for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
             if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say"]  # fmt: skip
    return {node.args[0].value for node in calls if isinstance(node.args[0], ast.Constant)}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_every_word_is_in_the_catalogue_with_its_parts(path):
    known = {entry.msgid: entry.msgstr for entry in polib.pofile(str(path))}
    wanted = (
        spoken()
        | {*messages.TEMPLATES, *messages.PARTS, *messages.NAMES, *messages.CHECKS}
        | CONSTANTS
        | NAMED
        | {said for table in TABLES for said, _ in table}
        | {said for _, said in kinds.POWERS}
        | {*SENTENCES}
        | {
            notebook.NO_ANSWER,
            notebook.NO_NAMES,
            notebook.KEPT,
            notebook.STILL_CHECKING,
            notebook.PRACTICE,
            *filter(None, STEP_COLUMNS),
        }
    )
    assert len(spoken()) > 20 and wanted <= known.keys(), wanted - known.keys()
    for text, said in known.items():
        assert said and set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", said)), text


def test_a_card_speaks_french_where_the_reader_does(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    card = verdict_html(VERDICT)
    for said in (
        "pas encore juste",
        "0 sur 2",
        "Encore à gagner\u00a0: 2 sur 2",
        "le résultat[0] en ligne 0, colonne 1 s&#x27;écarte de 2",
        "votre réponse",
    ):
        assert said in card
    assert (
        "Déjà juste\u00a0: gradients." in card
        and "not yet right" not in card
        and "Déjà juste" in verdict_text(VERDICT.as_json())
    )
    assert words.places("the result is a list where a tensor of shape [2, 3] is expected") == (
        "le résultat est une liste là où l'on attend un tenseur de forme [2, 3]"
    )
    assert words.places("your code stopped: KeyError: {1}") == "votre code s'est arrêté\u00a0: KeyError: {1}"
    assert words.places("what it holds at [0] differs") == "what it holds at entry 0 differs"  # in one language
    assert "✗ right\u00a0: le résultat[0]" in verdict_text(VERDICT.as_json())
    assert "<b>right</b>\u00a0: le" in card
    monkeypatch.setenv("LANGUAGE", "en")
    assert "not yet right" in verdict_html(VERDICT)


UNWRITTEN = "def causal_mask(length):\n    raise NotImplementedError\n"


def test_an_answer_that_is_not_written_is_said_to_be_in_french(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    verdict = grade_source(registry.find("masks.causal"), UNWRITTEN, backend=choose(), device="cpu")
    assert verdict.reason == "not written yet"
    said = verdict_text(verdict.as_json())
    assert "pas encore écrit" in said and "written yet" not in said
    assert words.places(verdict.checks[0].message) == "`causal_mask` n'est pas encore écrit"


def test_two_functions_that_are_not_written_are_several(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    assert words.places("`f`, `g` are not written yet") == "`f`, `g` ne sont pas encore écrits"


def test_a_passed_card_says_in_french_what_was_not_run(monkeypatch):
    reason = "Not run here: on a CUDA device (there is none)."
    verdict = replace(VERDICT, status="passed", score=2.0, reason=reason)
    assert reason in verdict_html(verdict)
    monkeypatch.setenv("LANGUAGE", "fr")
    card = verdict_html(verdict)
    assert "Pas exécuté ici\u00a0: on a CUDA device (there is none)." in card and "Not run" not in card
