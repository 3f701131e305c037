"""Changes are written without line numbers, found by their lines, and can be made together where they share none."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from autograder.cli import main
from autograder.exercises import registry
from autograder.exercises.answers import BadCorpus, EditedAnswer, answer, answers
from autograder.exercises.edits import BadChange, apply_replacements, compatible, difference, entry, parse_replacements

BASE = "def f(x):\n    y = x + 1\n    z = y * 2\n    return z\n"


def made(change: str) -> str:
    return apply_replacements(BASE, parse_replacements(change, BASE))


def test_a_line_is_replaced_added_or_removed():
    assert made("-    y = x + 1\n+    y = x") == BASE.replace("x + 1", "x")
    assert made(" def f(x):\n+    x = x.float()") == BASE.replace(":\n", ":\n    x = x.float()\n", 1)
    assert made("-    z = y * 2\n-    return z\n+    return y") == "def f(x):\n    y = x + 1\n    return y\n"
    assert made("-    y = x + 1\n+    y = x\n@@\n-    return z\n+    return -z").endswith(
        "y = x\n    z = y * 2\n    return -z\n"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [("-    y = x + 2\n+    y = x", "nowhere"), ("+    y = x", "nowhere"), (" def f(x):", "replaces nothing"),
     ("y = x", "starts with neither"), ("-    y = x + 1\n+    y = 1\n@@\n-    y = x + 1\n+    y = 2", "same line")],
)  # fmt: skip
def test_a_change_that_does_not_fit_says_why(change, said):
    with pytest.raises(BadChange, match=said):
        parse_replacements(change, BASE)


def test_what_is_written_reads_back():
    twice = "a = 1\nb = 2\na = 1\nb = 2\n"
    for base, text in ((BASE, made("-    y = x + 1\n+    y = x")), (twice, "a = 1\nb = 2\na = 1\nb = 3\n")):
        change = difference(base, text)
        assert apply_replacements(base, parse_replacements(change, base)) == text
        table = tomllib.loads(entry("name", "base", 'It says "no".', change))["name"]
        assert (
            apply_replacements(base, parse_replacements(table["change"], base)) == text
            and table["sentence"].strip() == 'It says "no".'
        )


def test_changes_of_different_lines_can_be_made_together():
    first, second = (
        parse_replacements(f"-    {old}\n+    {new}", BASE)
        for old, new in (("y = x + 1", "y = x"), ("return z", "return -z"))
    )
    other = parse_replacements("-    y = x + 1\n+    y = x + 3", BASE)
    assert compatible(first, second) and not compatible(first, other) and not compatible(first, first)
    assert apply_replacements(BASE, [*first, *second]) == "def f(x):\n    y = x\n    z = y * 2\n    return -z\n"


def test_every_entry_of_the_course_fits_its_base():
    count = 0
    for exercise in registry.exercises():
        for kind in ("wrong", "edge"):
            for one in answers(exercise, kind):
                count += isinstance(one, EditedAnswer) and bool(one.replacements)
                compile(one.read_text(), one.name, "exec")
    assert count >= 890


def shown(*names: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["corpus", "show", *names])
    return ended.value.code


def test_an_answer_is_shown_whole(capsys):
    assert shown("attention.scaled_dot_product", "divided_by_d") == 0
    text = capsys.readouterr().out
    assert text.startswith('"""You divide the scores by d')
    assert "/ q.shape[-1]\n" in text and "return weights @ v, weights" in text
    assert shown("attention.scaled_dot_product", "divided_by_dd") == shown("attention.scaled_dot_product") == 2
    assert "wrong/divided_by_d" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [('[one]\nbase = "nobody"\nsentence = "s"\nchange = "-x"', "is not a right answer"), ("[one", "is not TOML"),
     ('[one]\nbase = "tril"\nsentence = "s"', "needs change"), ("one = 1", "outside any table")],
)  # fmt: skip
def test_an_entry_that_cannot_be_read_says_why(tmp_path, text, said):
    exercise = replace(registry.find("masks.causal"), folder=tmp_path)
    place = tmp_path / "submissions" / exercise.id
    (place / "right").mkdir(parents=True)
    (place / "right" / "tril.py").write_text("x\n")
    (place / "wrong.toml").write_text(text)
    with pytest.raises(BadCorpus, match=said):
        answers(exercise, "wrong")


def test_names_lead_to_answers():
    exercise = registry.find("masks.softmax")
    assert answer(exercise, "rewritten/mask_ignored") != answer(exercise, "mask_ignored")
