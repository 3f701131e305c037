"""Each command that a document shows is run by a test: a test file has its words and its options in its calls.

Tests run commands in many ways: as words for `cli.main`, through helpers of a conftest.py, as lines of a shell script.
So this reads their source, and takes the words of its lists, tuples and calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from tests.docs.test_commands import INLINE, ROOT, documents, typed, words

PROGRAMS = ("autograder", "tfkit", "nbgrader")
ELSEWHERE = {"nbgrader fetch_feedback"}  # tests/multiuser asks for it as JupyterLab does, by an address
GROUPS = ("benchmark", "capstone", "corpus", "environment", "hub", "hunts", "order", "questions", "variants")


def words_of_calls(source: str) -> Iterator[str]:
    """The words of each list, tuple and call; of an option with its value, the option."""
    for node in ast.walk(ast.parse(source)):
        for part in getattr(node, "elts", getattr(node, "args", None) if isinstance(node, ast.Call) else None) or ():
            texts = part.values if isinstance(part, ast.JoinedStr) else (part,)
            for text in texts:
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield from (word.partition("=")[0] for word in text.value.split())


def words_of_file(path: Path) -> frozenset[str]:
    return frozenset(words_of_calls(path.read_text(encoding="utf-8")))


@lru_cache
def known_words() -> Mapping[Path, frozenset[str]]:
    """Test file -> its words, and those of its folder's conftest.py."""
    folder = ROOT / "tests"
    helpers = {path.parent: words_of_file(path) for path in folder.rglob("conftest.py") if path.parent != folder}
    files = [path for path in folder.rglob("test_*.py") if path != Path(__file__)]
    return {path: words_of_file(path) | helpers.get(path.parent, frozenset()) for path in files}


def wanted(command: str) -> frozenset[str]:
    """What a test must have to run the command: its first word after the program, the second one of a group's, and the
    options. Nothing for programs that are not this project's."""
    program, *rest = words(command) or [""]
    if Path(program).name not in PROGRAMS:
        return frozenset()
    named = [word for word in rest[: 2 if rest[:1] and rest[0] in GROUPS else 1] if re.fullmatch("[a-z_]+", word)]
    return frozenset([*named, *(word.partition("=")[0] for word in rest if word.startswith("-"))])


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_a_test_runs_each_command_of_a_document(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    commands = {*typed(text), *INLINE.findall(text)} - ELSEWHERE
    assert sorted(one for one in commands if not any(wanted(one) <= found for found in known_words().values())) == []


def test_what_no_test_runs_is_seen() -> None:
    assert wanted("autograder hunts show masks.causal --seed 3") == {"hunts", "show", "--seed"}
    assert wanted("autograder corpus --report") == {"corpus", "--report"}
    assert wanted(".venv/bin/autograder grade . 02-masks") == {"grade"} and wanted("git push origin") == frozenset()
    found = {*words_of_calls('run("hunts", f"--seed={n}")\ncall = [python, "-m", "autograder list"]')}
    assert found == {"hunts", "--seed", "-m", "autograder", "list"}
