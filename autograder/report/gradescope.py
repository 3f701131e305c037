"""Called by Gradescope's `run_autograder`: grades one submission and writes its results.json."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.api import HINTS, Verdict, with_hints
from autograder.console.base import BadInput
from autograder.exercises import registry
from autograder.feedback.text import verdict_text
from autograder.grade.file import grade_answer, read
from autograder.sandbox import SandboxError, choose
from tfkit_course.command_line import make_parser


def results(
    assignment: str, points: dict[str, float], submission: Path, trust: bool = False, hints: int = HINTS
) -> dict[str, Any]:
    """The object that Gradescope reads, a test for each exercise. Raises SandboxError if there is no box here."""
    backend = choose(trust=trust)
    try:
        file = _file(assignment, submission)
        content = read(file)
    except BadInput as error:
        return {"score": 0.0, "output": f"Not graded: {error}"}
    tests = []
    for name, most in points.items():
        verdict = grade_answer(registry.find(name), file, content, backend, device="auto", seed=None)
        tests.append(_test(name, most, replace(verdict, file=file.name), hints))
    ungraded = [test["name"] for test in tests if test["output"].startswith("Not graded")]
    summary = f"Not graded, through no fault of yours: {', '.join(ungraded)}" if ungraded else assignment
    return {"output": summary, "tests": tests}


def _file(assignment: str, submission: Path) -> Path:
    """The notebook or Python file to grade. Raises BadInput if there is no such file."""
    wanted = [submission / f"{assignment}{suffix}" for suffix in (".ipynb", ".py")]
    others = sorted(path for path in submission.iterdir() if path.suffix in (".ipynb", ".py"))
    found = [path for path in wanted if path.is_file()] or (others if len(others) == 1 else [])
    if not found:
        names = ", ".join(p.name for p in others) or "no notebook"
        raise BadInput(f"submit {assignment}.ipynb; you submitted: {names}")
    return found[0]


def _test(name: str, most: float, verdict: Verdict, hints: int) -> dict[str, Any]:
    share = verdict.score / verdict.max_score if verdict.max_score else 0.0
    output = verdict_text(with_hints(verdict.as_json(), hints))
    if verdict.status == "not_graded":
        output = f"Not graded: {verdict.reason}"
    status = "passed" if verdict.status == "passed" else "failed"
    return {"name": name, "score": round(most * share, 2), "max_score": most, "status": status, "output": output}


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = make_parser(
        "autograder.report.gradescope",
        """
        Check the notebooks of a submission, and write Gradescope's results.json. `autograder export --to
        gradescope-autograder` writes an autograder for Gradescope that runs this.
        """,
        exits={0: "the results were written", 2: "there is no sandbox, so nothing was graded and nothing written"},
        examples=(
            "python -m autograder.report.gradescope 03-heads masks.causal=2 \\\n"
            "      --submission . --results results.json",
        ),
    )
    parser.add_argument("assignment", metavar="ASSIGNMENT", help="the assignment's name, such as 03-heads")
    parser.add_argument("exercises", nargs="+", metavar="ID=POINTS", help="an exercise's id, and its points")
    parser.add_argument(
        "--submission", type=Path, required=True, metavar="FOLDER", help="folder with the submitted files"
    )
    parser.add_argument("--results", type=Path, required=True, metavar="FILE", help="the results.json to write")
    parser.add_argument("--trust", action="store_true", help="if there is no sandbox, run the code without isolation")
    parser.add_argument(
        "--hints",
        type=int,
        choices=range(4),
        default=HINTS,
        metavar="N",
        help="how much help to show: 0 none … 3 all (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    points = {name: float(worth) for name, _, worth in (one.partition("=") for one in options.exercises)}
    try:
        found = results(options.assignment, points, options.submission, options.trust, options.hints)
    except SandboxError as error:  # write no results, so that Gradescope reports a failed autograder instead of a zero
        parser.exit(2, f"autograder: {error} (--trust)\n")
    options.results.parent.mkdir(parents=True, exist_ok=True)
    options.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
