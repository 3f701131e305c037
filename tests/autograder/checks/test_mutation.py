"""The operators make the slips they name, and the score counts what it says."""

import re
import textwrap
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.checks import mutation
from autograder.checks.operators import Mutant, mutants
from autograder.corpus.judge import Score, ask_reference
from autograder.exercises import registry

PAIRS = [
    ("a + b", "drop_term", {"a", "b"}),
    ("a - b", "change_operator", {"a + b"}),
    ("a < b", "change_comparison", {"a <= b", "a >= b"}),
    ("~a", "drop_sign", {"a"}),
    ("a[2]", "change_constant", {"a[3]", "a[1]"}),
    ("float('-inf')", "change_constant", {"0.0"}),
    ("a.sum(b)", "change_function", {"a.mean(b)", "a.amax(b)"}),
    ("a.masked_fill(mask, 0.0)", "drop_call", {"a", "mask"}),
    ("f(a, mask)", "drop_argument", {"f(a)", "f(a, None)"}),
    ("f(a, key=b)", "drop_argument", {"f(a)"}),
    ("f(a, b)", "swap", {"f(b, a)"}),
    ("a @ b", "swap", {"b @ a"}),
    ("a[b:c]", "change_slice", {"a[:c]", "a[b:]"}),
    ("a if b else c", "drop_statement", {"a", "c"}),
    ("[x for x in a if b]", "shorten_loop", {"[x for x in list(a)[1:] if b]", "[x for x in list(a)[:-1] if b]",
                                             "[x for x in a]"}),
    ("a * b", "cut_gradient", {"cut(a) * b", "a * cut(b)"}),
]  # fmt: skip


@pytest.mark.parametrize("expression, operator, slips", PAIRS, ids=[f"{pair[1]} {pair[0]}" for pair in PAIRS])
def test_operators(expression, operator, slips):
    made = list(mutants(f"def f(a, b):\n    return {expression}", {"f"}))
    assert {m.new.removeprefix("return ") for m in made if m.operator == operator} == slips


def test_text_types_and_guards_are_left_alone():
    source = 'def f(a: list[int] = None) -> int:\n    """Text, 1 + 1."""\n    return zip(a, a, strict=True)'
    assert all("strict=True" in m.source and "1 + 1" in m.source for m in mutants(source, {"f"}) if "zip" in m.new)


def test_only_the_named_definitions_change():
    source = "def f(a):\n    return a + 1\n\ndef g(a):\n    return a + 1"
    assert {mutant.definition for mutant in mutants(source, {"g"})} == {"g"}


def _list(folder, *entries):
    keys = ("exercise", "definition", "old", "new", "reason")
    lines = [f"{key} = '''{value}'''" for entry in entries for key, value in zip(keys, entry, strict=True)]
    (folder / "equivalent.toml").write_text("\n".join(["[[mutant]]", *lines]), encoding="utf-8")


RETURN = "return torch.ones(length, length, dtype=torch.bool).tril()"


@pytest.mark.parametrize(
    "new, said",
    [
        (RETURN.replace("tril", "triu"), "lists a mutant that is caught"),
        ("return 7", "lists a change that is not a mutant"),
    ],
)
def test_a_listed_mutant_must_exist_and_survive(tmp_path, new, said):
    exercise = registry.find("masks.causal")
    question_sets = ask_reference(exercise, 1)
    assert mutation.mutation_score(exercise, question_sets).complaints == []
    _list(tmp_path, (exercise.id, "causal_mask", RETURN, new, "as an experiment"))
    found = mutation.mutation_score(replace(exercise, folder=tmp_path), question_sets)
    assert [said in complaint for complaint in found.complaints] == [True]


def test_the_page_on_units_shows_an_entry_that_a_unit_of_the_course_has():
    page = Path(__file__).parents[3] / "docs" / "units.md"
    (block,) = re.findall(r"( +\[\[mutant\]\]\n.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (entry,) = tomllib.loads(textwrap.dedent(block))["mutant"]
    listed = mutation.equivalents(registry.find(entry["exercise"]))
    assert listed[entry["definition"], entry["old"], entry["new"]] == entry["reason"]


def test_the_report_uses_each_name_for_one_thing():
    """It said "mutation score 100%" of collected answers, and "killed 54 (94.7%)" of mutants, in one output."""
    collected = Score("a.b", right=2, wrong=4, rejected=4, named=3).line
    mutants = mutation.MutationScore("a.b", killed=54, survived=3).line
    assert "rejected 4/4" in collected and "mutation" not in collected
    assert "killed   54  survived 3  mutation score 94.7%" in mutants


def test_a_check_that_asks_nothing_lets_everything_survive():
    score = mutation.mutation_score(registry.find("masks.causal"), [])
    assert score.survived == len(score.complaints) > 4 and score.killed == 0


def test_a_loop_without_end_counts_for_nothing(monkeypatch):
    monkeypatch.setattr(mutation, "SECONDS", 0.5)
    exercise = registry.find("masks.causal")
    endless = Mutant("causal_mask", "", "", "", "def causal_mask(length):\n    while True: pass")
    assert mutation._fate(endless, exercise, ask_reference(exercise, 1)) == "crashed"
