"""Compares a student's answers with slips in an instructor's own solution, collected by `autograder adopt`.

Where an own test fails, its calls are repeated with each slip that the test catches. If exactly one slip gives the
student's answers to all of them, it is reported to the student.
"""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.diagnosis.edits import apply_replacements, parse_replacements

Slip = dict[str, Any]  # {"words": …, "source": …, "caught by": [grade ids]}
Call = tuple[str, list[Any], dict[str, Any], Any]  # a function's name, its arguments, its result
SECONDS = 5.0  # in all, for one test
TOKEN = re.compile(r"\w+|\s+|[<>=!*/+-]+|[^\w\s]")


def setting(folder: Path) -> dict[str, list[Slip]]:
    """Assignment -> its slips, of the corpus that `autograder adopt` wrote; none where there is none. Imports no torch.

    Raises ValueError, with the file's name, where a corpus was damaged.
    """
    return {file.parent.name: _read(file) for file in sorted(folder.glob("*/slips.json"))}


def _read(file: Path) -> list[Slip]:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        changes = tomllib.loads((file.parent / "wrong.toml").read_text(encoding="utf-8"))
        right = {path.stem: path.read_text(encoding="utf-8") for path in file.parent.glob("right/*.py")}
        slips = [{**one, "source": _program(known["cells"], right, changes[one["name"]])} for one in known["caught"]]
        return [{key: slip[key] for key in ("words", "caught by", "source")} for slip in slips]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} is damaged ({error}): run `autograder adopt` again") from None


def _program(cells: list[dict[str, str]], right: dict[str, str], slip: dict[str, str]) -> str:
    """The notebook without its tests, with the slip in one of its solutions."""
    base = right[slip["base"]]
    texts = right | {slip["base"]: apply_replacements(base, parse_replacements(slip["change"], base))}
    return "\n\n".join(texts[cell["solution"]] if "solution" in cell else cell["source"] for cell in cells)


def words(definition: str, old: str, new: str) -> str:
    """What was changed in a line, in words: "`<` in the place of `<=` in `first`"."""
    was, now = TOKEN.findall(old), TOKEN.findall(new)
    front = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    back = 0
    while back < min(len(was), len(now)) - front and was[-1 - back] == now[-1 - back]:
        back += 1
    gone, there = ("".join(tokens[front : len(tokens) - back]).strip() for tokens in (was, now))
    if not there:
        return f"without `{gone}` in `{definition}`"
    return f"with `{there}` in the place of `{gone}` in `{definition}`" if gone else f"with `{there}` in `{definition}`"


def likest(slips: Sequence[Slip], test: str, calls: Sequence[Call]) -> str:
    """The sentence about the one slip, of those that `test` catches, that answers these calls alike; else ""."""
    end, found = time.monotonic() + SECONDS, []
    for slip in slips if calls else ():
        if time.monotonic() > end:
            return ""
        if test in slip["caught by"] and _alike(slip["source"], calls):
            found.append(slip["words"])
    return f"Your code behaves like the solution {found[0]}." if len(found) == 1 else ""


def _alike(source: str, calls: Sequence[Call]) -> bool:
    """Whether the slip, the instructor's own code, answers every call as the student's code did."""
    from autograder.checks.compare import compare
    from autograder.checks.mutation import GradientCut, MutantTimeout, deadline
    from autograder.proxies import copy_without_history

    namespace: dict[str, Any] = {"__name__": "__main__", "cut": GradientCut()}
    try:
        with deadline():
            exec(compile(source, "slip", "exec"), namespace)
            for name, args, kwargs, answer in calls:
                given = copy_without_history(
                    namespace[name](*copy_without_history(args), **copy_without_history(kwargs))
                )
                if compare(given, answer) is not None:
                    return False
    except (MutantTimeout, Exception):  # a slip that stops, or an answer that cannot be compared, is not alike
        return False
    return True
