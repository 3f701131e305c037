"""The course's rules for assistants: the smaller number counts, and a file that makes no sense is told in a line."""

import json

import pytest

from autograder.assistants.rules import BadRules, read_rules
from autograder.exercises import registry
from autograder.exercises.contracts import draw_contract


def test_without_a_course_everything_that_students_get(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    rules = read_rules(None)
    assert rules.hints == 3 and rules.log == tmp_path / "tfkit" / "assistants.jsonl"


def test_a_course_says_how_much(tmp_path):
    assert read_rules(tmp_path).hints == 3
    (tmp_path / "course.toml").write_text("[assistants]\nhints = 1\n")
    assert read_rules(tmp_path).hints == 1 and read_rules(tmp_path).log.is_relative_to(tmp_path)


def test_never_more_than_the_students_get(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.ShowVerdicts.hints = 2\n")
    assert read_rules(tmp_path).hints == 2
    (tmp_path / "course.toml").write_text("[assistants]\nhints = 3\n")
    assert read_rules(tmp_path).hints == 2


def test_a_course_that_draws_contracts_asks_otherwise(tmp_path):
    exercise = registry.find("masks.causal")
    groups = [f"group {number}" for number in range(20)]
    for group in (next(one for one in groups if draw_contract(exercise, one)),
                  next(one for one in groups if not draw_contract(exercise, one))):  # fmt: skip
        (tmp_path / "course.toml").write_text(f'variants = "{group}"\n')
        assert read_rules(tmp_path).asks_otherwise(exercise) == bool(draw_contract(exercise, group))
        (tmp_path / "course.toml").write_text(f'variants = "{group}"\nvariants_for = "student"\n')
        assert read_rules(tmp_path).asks_otherwise(exercise)  # of some student


def test_a_notebook_that_asks_under_another_contract(tmp_path):
    exercise, rules = registry.find("masks.causal"), read_rules(tmp_path)
    (tmp_path / "02-masks").mkdir()
    notebook = tmp_path / "02-masks" / "02-masks.ipynb"
    for source, otherwise in (('check("masks.causal")', False), ('check("masks.causal@hidden")', True)):
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": [source]}
        notebook.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        assert rules.asks_otherwise(exercise) == otherwise
    assert not read_rules(None).asks_otherwise(exercise)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[assistants]\nhints = 4", "hints = 4 must be a whole number from 0 to 3"),
        ("[assistants]\nhints = true", "hints = True must be"),
        ("[assistants]\nhint = 1", "has 'hint', which is not one of hints; did you mean hints"),
        ("assistants = 1", "must be a table"),
        ("[assistants", "is not TOML"),
    ],
)
def test_what_makes_no_sense(tmp_path, text, words):
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(BadRules, match=words) as caught:
        read_rules(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(BadRules, match="there is no folder"):
        read_rules(tmp_path / "nowhere")
