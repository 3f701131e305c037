"""Called by the workflow for GitHub Classroom: grades all exercises of one submission in one run.

Its outputs, one for each exercise, are what GitHub's `autograding-grading-reporter` adds up: JSON in base64, with the
points that the properties of the answer earn.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.api import HINTS
from autograder.report.gradescope import results
from autograder.sandbox import SandboxError
from tfkit_course.command_line import make_parser

STATUS = {"passed": "pass", "failed": "fail"}


def outputs(found: dict[str, Any], points: dict[str, float]) -> Iterator[str]:
    """A line `testN=…` for each exercise, of what `gradescope.results` found; where it graded nothing, all score 0."""
    none = [{"name": name, "score": 0.0, "status": "failed", "output": found["output"]} for name in points]
    for number, test in enumerate(found.get("tests", none), 1):
        status = STATUS[test["status"]]
        one = {"name": test["name"], "status": status, "score": test["score"], "message": test["output"],
               "test_code": "", "filename": "", "line_no": 0, "duration": 0}  # fmt: skip
        result = {"version": 1, "status": status, "max_score": points[test["name"]], "tests": [one]}
        yield f"test{number}={base64.b64encode(json.dumps(result).encode()).decode()}"


def main(arguments: list[str] | None = None) -> None:
    """The command line. Where there is no box it writes nothing and the step fails, so that nobody gets zero."""
    parser = make_parser(
        "autograder.report.classroom",
        """
        Check the notebooks of the current folder, and write one result per exercise to the file that GITHUB_OUTPUT
        names, as GitHub Classroom's autograding expects it. `autograder export --to github-classroom` writes a workflow
        that runs this.
        """,
        exits={0: "the results were written", 2: "there is no sandbox, so nothing was graded and nothing written"},
        examples=("python -m autograder.report.classroom 03-heads attention.multi_head=4",),
    )
    parser.add_argument("assignment", metavar="ASSIGNMENT", help="the assignment's name, such as 03-heads")
    parser.add_argument("exercises", nargs="+", metavar="ID=POINTS", help="an exercise's id, and its points")
    parser.add_argument(
        "--hints",
        type=int,
        choices=range(HINTS + 1),
        default=HINTS,
        metavar="N",
        help="how much help to show: 0 none … 3 all (default: %(default)s)",
    )
    parser.add_argument("--trust", action="store_true", help="if there is no sandbox, run the code without isolation")
    options = parser.parse_args(arguments)
    points = {name: float(worth) for name, _, worth in (one.partition("=") for one in options.exercises)}
    try:
        found = results(options.assignment, points, Path(), options.trust, options.hints)
    except SandboxError as error:
        parser.exit(2, f"autograder: {error} (--trust)\n")
    print(found["output"])
    print(*(test["output"] for test in found.get("tests", ())), sep="\n\n")
    with open(os.environ.get("GITHUB_OUTPUT", os.devnull), "a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in outputs(found, points))


if __name__ == "__main__":
    main()
