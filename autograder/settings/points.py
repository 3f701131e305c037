"""The points of each check of an exercise: by its weight among all, with edge cases together at most a quarter.

A course may set other weights for properties in its course.toml:

    [weights]          # times what the exercises give
    gradients = 2
    cost = 0           # still said, but it costs nothing

    [grading]
    credit = "checks"  # what a wrong answer keeps: see autograder.credit.rule
    ordered = 0.5      # the share that an order of lines earns: see autograder.ordering.answer
    again = 0.1        # the share of submissions that are graded twice

and its `variants` may be drawn for each student.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.api import MAX_EDGE_SHARE, Property
from autograder.settings import course_file
from autograder.settings.course_file import GRADING, STUDENT, WEIGHTS, CourseFileError
from autograder.settings.credit import DEFAULT, RULES, CreditRule

FILE = course_file.FILE
WRONG = "wrong"  # key of the error message that replaces an invalid setting
Part = tuple[Property, float]  # a check's property and its weight


class BadWeights(ValueError):
    """The weights or the course.toml with them are invalid; the message says which entry is wrong, and what to do."""


class BadContracts(ValueError):
    """The course.toml by which contracts are drawn for each student is invalid; the message says what to do."""


class BadShare(ValueError):
    """The share of ordered lines, or the course.toml with it, is invalid; the message says what to do."""


class BadCredit(ValueError):
    """The rule of credit or the course.toml with it is invalid; the message says what to do."""


def read(path: Path) -> dict[str, float]:
    """The weights by property in the course.toml at this path; empty if it has none or does not exist.

    Raises BadWeights, with one line.
    """
    try:
        given = course_file.read(path).get(WEIGHTS.name, {})
    except CourseFileError as error:
        raise BadWeights(str(error)) from None
    return {name: float(weight) for name, weight in given.items()}


def setting(path: Path) -> dict[str, Any]:
    """As `read`, for a configuration file, which must not raise, since nbgrader would then ignore all of it.

    An error is stored, and `check_weights` raises it before anything is graded.
    """
    try:
        return dict(read(path))
    except BadWeights as error:
        return {WRONG: str(error)}


def read_credit(path: Path) -> CreditRule:
    """The rule of credit in the course.toml at this path, by default the usual one. Raises BadCredit, with one line."""
    try:
        return check_credit(course_file.read(path).get(GRADING.name, {}).get("credit", DEFAULT), str(path))
    except CourseFileError as error:
        raise BadCredit(str(error)) from None


def read_share_again(path: Path) -> float:
    """The share of submissions to grade twice, by the course.toml at this path. Raises CourseFileError."""
    return float(course_file.read(path).get(GRADING.name, {}).get("again", GRADING.defaults["again"]))


def credit_setting(path: Path) -> str | dict[str, str]:
    """As `read_credit`, for a configuration file, as `setting`: an error is stored, and `check_credit` raises it."""
    try:
        return read_credit(path)
    except BadCredit as error:
        return {WRONG: str(error)}


def check_credit(given: Any, where: str) -> CreditRule:
    """`given` as a rule of credit. Raises BadCredit, which begins with `where`, or is the error that was stored."""
    if isinstance(given, Mapping) and WRONG in given:
        raise BadCredit(str(given[WRONG]))
    for rule in RULES:
        if given == rule:
            return rule
    wanted = " or ".join(f'"{rule}"' for rule in RULES)
    raise BadCredit(f"{where} is {given!r}, and must be {wanted}")


def read_contracts(path: Path) -> str:
    """The text by which the course.toml at this path draws contracts for each student; "" if it draws none for them.

    Raises BadContracts, with one line.
    """
    try:
        found = course_file.read(path)
    except CourseFileError as error:
        raise BadContracts(str(error)) from None
    text: str = found.get("variants", "")
    if found.get("variants_for") == STUDENT and not text:
        raise BadContracts(f'{path}: variants_for = "{STUDENT}" needs a text to draw by: write variants = "2026"')
    return text if found.get("variants_for") == STUDENT else ""


def contracts_setting(path: Path) -> str | dict[str, str]:
    """As `read_contracts`, for a configuration file, as `setting`; `check_contracts` raises a stored error."""
    try:
        return read_contracts(path)
    except BadContracts as error:
        return {WRONG: str(error)}


def check_contracts(given: Any, where: str) -> str:
    """`given` as the text of `read_contracts`. Raises BadContracts, which begins with `where`, or was stored."""
    if isinstance(given, Mapping) and WRONG in given:
        raise BadContracts(str(given[WRONG]))
    if not isinstance(given, str):
        raise BadContracts(f'{where} is {given!r}, and must be a text such as "2026", or "" for none')
    return given


def read_ordered(path: Path) -> float:
    """The share of the points that lines in order earn by the course.toml at this path; 0 if they are not taken.

    Raises BadShare, with one line.
    """
    try:
        return float(course_file.read(path).get(GRADING.name, {}).get("ordered", 0.0))
    except CourseFileError as error:
        raise BadShare(str(error)) from None


def ordered_setting(path: Path) -> float | dict[str, str]:
    """As `read_ordered`, for a configuration file, as `setting`; `check_ordered` raises a stored error."""
    try:
        return read_ordered(path)
    except BadShare as error:
        return {WRONG: str(error)}


def check_ordered(given: Any, where: str) -> float:
    """`given` as a share of points, 0 for none. Raises BadShare, which begins with `where`, or was stored."""
    if isinstance(given, Mapping) and WRONG in given:
        raise BadShare(str(given[WRONG]))
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise BadShare(f"{where} is {given!r}, and must be a number from 0, for none, to 1")
    return float(given)


def check_weights(given: Any, where: str) -> dict[str, float]:
    """`given` as weights by property. Raises BadWeights, which begins with `where`."""
    if isinstance(given, Mapping) and WRONG in given:
        raise BadWeights(str(given[WRONG]))
    try:
        course_file.check_table(WEIGHTS, given, where)
    except CourseFileError as error:
        raise BadWeights(str(error)) from None
    return {name: float(weight) for name, weight in given.items()}


def shares(parts: Sequence[Part], points: float, weights: Mapping[str, float] | None = None) -> list[float]:
    """The points of each part of the exercise; together they are `points`, edge cases at most a quarter."""
    weighted = [weight * (weights or {}).get(name, 1.0) for name, weight in parts]
    edges = math.fsum(w for (name, _), w in zip(parts, weighted, strict=True) if name == "edges")
    rest = math.fsum(weighted) - edges
    if rest <= 0:  # there are only edge cases: keep their weights
        return [points * w / edges if edges else 0.0 for w in weighted]
    most = rest * MAX_EDGE_SHARE / (1 - MAX_EDGE_SHARE)
    room = min(1.0, most / edges) if edges else 1.0
    fitted = [w * room if name == "edges" else w for (name, _), w in zip(parts, weighted, strict=True)]
    total = math.fsum(fitted)
    return [points * w / total for w in fitted]
