"""Compares a student's answers with mutants of an instructor's own solution, which `autograder adopt` stored.

When one of the instructor's tests fails, its calls are repeated with each mutant that the test kills. If exactly one
mutant returns what the student's code returned for all of them, it is named in the student's feedback.
"""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.exercises.edits import apply_replacements, parse_replacements

StoredMutant = dict[str, Any]  # {"words": …, "source": …, "caught by": [grade ids]}
Call = tuple[str, list[Any], dict[str, Any], Any]  # a function's name, its arguments, its result
MAX_COMPARED = 200  # mutants, for one test
SECONDS = 60.0  # in all, for one test, which only mutants that hardly end reach
TOKEN = re.compile(r"\w+|\s+|[<>=!*/+-]+|[^\w\s]")


def setting(folder: Path) -> dict[str, list[StoredMutant]]:
    """The stored mutants of each assignment of a course, empty if `autograder adopt` wrote none. Imports no torch.

    Raises ValueError, which names the file, if a corpus is damaged.
    """
    return {file.parent.name: _read(file) for file in sorted(folder.glob("*/mutants.json"))}


def _read(file: Path) -> list[StoredMutant]:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        changes = tomllib.loads((file.parent / "wrong.toml").read_text(encoding="utf-8"))
        right = {path.stem: path.read_text(encoding="utf-8") for path in file.parent.glob("right/*.py")}
        mutants = [{**one, "source": _program(known["cells"], right, changes[one["name"]])} for one in known["caught"]]
        return [{key: mutant[key] for key in ("words", "caught by", "source")} for mutant in mutants]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} is damaged ({error}): run `autograder adopt` again") from None


def _program(cells: list[dict[str, str]], right: dict[str, str], mutant: dict[str, str]) -> str:
    """The notebook's code without its tests, with one solution replaced by the mutant."""
    base = right[mutant["base"]]
    texts = right | {mutant["base"]: apply_replacements(base, parse_replacements(mutant["change"], base))}
    return "\n\n".join(texts[cell["solution"]] if "solution" in cell else cell["source"] for cell in cells)


def words(definition: str, old: str, new: str) -> str:
    """The change of a line in words: "with `<` instead of `<=` in `first`"."""
    was, now = TOKEN.findall(old), TOKEN.findall(new)
    front = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    back = 0
    while back < min(len(was), len(now)) - front and was[-1 - back] == now[-1 - back]:
        back += 1
    gone, there = ("".join(tokens[front : len(tokens) - back]).strip() for tokens in (was, now))
    if not there:
        return f"without `{gone}` in `{definition}`"
    return f"with `{there}` instead of `{gone}` in `{definition}`" if gone else f"with `{there}` in `{definition}`"


def matching_mutant(mutants: Sequence[StoredMutant], test: str, calls: Sequence[Call]) -> str:
    """A sentence that names the only mutant which `test` kills and which returns the same as these calls, or ""."""
    end, found = time.monotonic() + SECONDS, []
    caught = [mutant for mutant in mutants if test in mutant["caught by"]] if calls else []
    if len(caught) > MAX_COMPARED:
        return ""
    for mutant in caught:
        if time.monotonic() > end:
            return ""
        if _alike(mutant["source"], calls):
            found.append(mutant["words"])
    return f"Your code behaves like the solution {found[0]}." if len(found) == 1 else ""


def _alike(source: str, calls: Sequence[Call]) -> bool:
    """Whether the mutant, which is the instructor's own code, returns for every call what the student's code did."""
    from autograder.checks.compare import compare
    from autograder.checks.mutation import GradientCut, MutantTimeout, deadline
    from autograder.own_tests.proxies import copy_without_history

    namespace: dict[str, Any] = {"__name__": "__main__", "cut": GradientCut()}
    try:
        with deadline():
            exec(compile(source, "mutant", "exec"), namespace)
            for name, args, kwargs, answer in calls:
                given = copy_without_history(
                    namespace[name](*copy_without_history(args), **copy_without_history(kwargs))
                )
                if compare(given, answer) is not None:
                    return False
    except (MutantTimeout, Exception):  # a mutant that raises, or whose results cannot be compared, does not match
        return False
    return True
