"""The notebooks of hunts for practice: which one is next, and what is in it."""

import ast
import json
import os

import nbformat
import pytest

from autograder.exercises import registry
from autograder.exercises.registry import UnknownExercise
from autograder.feedback.translate import override_language
from autograder.hunts import own_test, practice
from autograder.hunts.make import UnknownHunt


def test_each_notebook_is_the_hunt_of_the_next_seed_and_keeps_those_before(tmp_path):
    first, second = (practice.write_next(tmp_path / "hunts", ["masks.causal"]) for _ in range(2))
    assert (first.name, second.name) == ("masks.causal-1.ipynb", "masks.causal-2.ipynb")
    (tmp_path / "hunts" / "masks.causal-7.ipynb").write_text("a student's work")
    (tmp_path / "hunts" / "notes-x.ipynb").write_text("")
    assert practice.write_next(tmp_path / "hunts", ["masks.causal"]).name == "masks.causal-8.ipynb"
    assert 'hunt("masks.causal", seed=2)' in second.read_text().replace('\\"', '"')


def test_a_notebook_that_cannot_be_written_leaves_nothing_and_comes_next(tmp_path, monkeypatch):
    def fails(handle):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(os, "fsync", fails)
        practice.write_next(tmp_path, ["masks.causal"])
    assert list(tmp_path.iterdir()) == []
    assert practice.write_next(tmp_path, ["masks.causal"]).name == "masks.causal-1.ipynb"


def test_a_unit_hunts_in_each_of_its_exercises_before_any_of_them_again(tmp_path):
    subjects = practice.subjects_of("02-masks")
    assert "masks.causal" in subjects and all(one.startswith("masks.") for one in subjects)
    drawn = [practice.write_next(tmp_path, subjects).name.rpartition("-")[0] for _ in range(2 * len(subjects))]
    half = len(subjects)
    assert sorted(drawn[:half]) == sorted(drawn[half:]) == sorted(subjects)


@pytest.mark.parametrize(
    ("subject", "parameters"),
    [
        ("attention.scaled_dot_product", ["answer"]),
        ("training.train_loop", ["held_out_loss", "train_loop"]),
        ("page.gpt2", ["page"]),
    ],
)
def test_the_notebook_is_valid_and_its_functions_are_stubs(subject, parameters):
    found = practice.notebook(subject, 3)
    nbformat.validate(nbformat.from_dict(found))
    assert found["metadata"]["tfkit"] == {"hunt": subject}
    _, shown, stubs, verdict = (cell["source"] for cell in found["cells"])
    ast.parse(shown), ast.parse(verdict)
    functions = ast.parse(stubs).body
    assert [one.name for one in functions] == ["suspected_lines", "test_it", "repaired_code"]
    assert [one.arg for one in functions[1].args.args] == parameters
    if subject != "page.gpt2":
        ((_, read),) = own_test.read_test(registry.find(subject), ast.unparse(functions[1])).functions
        assert list(read) == list(registry.find(subject).symbols)
    assert all("NotImplementedError" in ast.unparse(one.body[-1]) for one in functions)


def test_each_third_hunt_has_two_faults_where_there_are_mistakes_to_make_together():
    shown = [practice.notebook("attention.attend", seed)["cells"][1]["source"] for seed in (1, 2, 3)]
    assert ["faults=2" in source for source in shown] == [False, False, True]
    for subject in ("masks.causal", "page.gpt2"):  # an answer of one line, and a page
        assert "faults" not in practice.notebook(subject, 3)["cells"][1]["source"]


def test_the_notebook_speaks_the_readers_language():
    with override_language("fr"):
        text = json.dumps(practice.notebook("masks.causal", 1), ensure_ascii=False)
    assert "Chasse aux fautes" in text and "Les numéros des lignes" in text and "The " not in text


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The code is in the form of the lesson's text, even if your course asks for another one."),
        ("fr", "Le code a la forme du texte de la leçon, même si votre cours en demande une autre."),
    ],
)
def test_the_notebook_says_which_form_its_code_has(language, sentence):
    """A student whose course asks for `masks.causal@hidden` must not take the other polarity for the fault."""
    with override_language(language):
        assert sentence in practice.notebook("masks.causal", 1)["cells"][0]["source"]


def test_what_is_unknown_is_named(tmp_path):
    with pytest.raises(UnknownHunt, match="'99-nothing'"):
        practice.subjects_of("99-nothing")
    with pytest.raises(UnknownExercise, match="masks.causl"):
        practice.write_next(tmp_path / "hunts", ["masks.causl"])
    with pytest.raises(UnknownHunt, match="gtp2"):
        practice.write_next(tmp_path / "hunts", ["page.gtp2"])
    assert not (tmp_path / "hunts").exists()
