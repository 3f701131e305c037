"""Teams of a course, `teams.toml` in its directory: a team's last submission counts for all its members.

[all]                        # of every assignment
red = ["ada", "ben"]

["05-transformer"]           # of this one, in place of those of [all]
blue = ["ada", "cleo"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "teams.toml"


class BadTeams(Exception):
    """The file cannot be used; the message says what is wrong."""


def read(root: Path, assignment: str) -> dict[str, list[str]]:
    """Team → members, for the assignment; empty if the course has no teams.

    Raises BadTeams if teams.toml is invalid.
    """
    path = root / FILE
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadTeams(f"{path} cannot be read: {error}") from None
    teams = found.get(assignment, found.get("all", {}))
    if not isinstance(teams, dict) or not all(_names(members) for members in teams.values()):
        raise BadTeams(f'{path}: a table, [all] or ["{assignment}"], must have lines such as red = ["ada", "ben"]')
    everyone = [student for members in teams.values() for student in members]
    if twice := sorted({student for student in everyone if everyone.count(student) > 1}):
        raise BadTeams(f"{path}: {', '.join(twice)} would be in two teams of {assignment}")
    return teams


def _names(members: Any) -> bool:
    return isinstance(members, list) and all(isinstance(one, str) for one in members)


def share(submissions: Mapping[str, Any], teams: Mapping[str, list[str]]) -> dict[str, Any]:
    """Student → the submission that counts for them; for a team it is the last one of its members.

    submissions: student → nbgrader's SubmittedAssignment, only of graded submissions.
    """
    counting = dict(submissions)
    for members in teams.values():
        of_team = [submissions[student] for student in members if student in submissions]
        if of_team:
            last = max(of_team, key=lambda one: (one.timestamp is not None, one.timestamp or 0, one.student.id))
            counting |= dict.fromkeys(members, last)
    return counting
