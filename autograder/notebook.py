"""`check("attention.attend")` in a notebook: the same engine, in a process of its own, on the cells that were run."""

from __future__ import annotations

import html
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from autograder.warm import WarmProcesses, request

SECONDS = 300.0
MIME = "application/vnd.tfkit.verdict+json"  # of what the lab's front end reads to keep the progress
UNDEFINED = "Run the cell with your answer first: a kernel that was restarted knows nothing (Run > Run All Above)."
_warm = WarmProcesses("--trust")


class CheckFailed(RuntimeError):
    """The check could not be made; the message says why."""


def check(exercise: str) -> None:
    """Grade what this notebook has run so far and show the verdict; raises CheckFailed where that cannot be done."""
    from IPython import get_ipython
    from IPython.display import display

    shell = get_ipython()
    if shell is None:
        raise CheckFailed("check() works in a notebook; for a file use `autograder check EXERCISE FILE`")
    display(bundle(verdict(exercise, list(shell.user_ns.get("In", [])))), raw=True)


def bundle(found: dict[str, Any]) -> dict[str, Any]:
    """The verdict as an output: a page's fragment, a line of text, and its outcome for the course panel."""
    outcome = {key: found.get(key) for key in ("exercise", "status", "score", "max_score", "misconception")}
    line = f"{found['exercise']}: {found['status'].replace('_', ' ')}, {found['score']:g} of {found['max_score']:g}"
    return {"text/html": as_html(found), "text/plain": line, MIME: outcome}


def verdict(exercise: str, history: list[str]) -> dict[str, Any]:
    """The verdict on the cells of `history`, as the object that `autograder check --json` prints."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "notebook.ipynb"
        file.write_text(json.dumps(_notebook(history)), encoding="utf-8")
        try:
            with _warm.process() as process:
                out, err = process.communicate(request(["check", exercise, str(file), "--json", "--trust"]), SECONDS)
        except subprocess.TimeoutExpired:
            raise CheckFailed(f"the check of {exercise} took longer than {SECONDS:g} s and was stopped") from None
    lines = out.splitlines()
    if not lines:
        said = err.strip().splitlines()
        raise CheckFailed(said[-1] if said else "the autograder gave no verdict and no reason")
    return json.loads(lines[-1])


def _notebook(history: list[str]) -> dict[str, Any]:
    """The cells in the order in which they were run, but for those that only ask for a check."""
    sources = [source for source in history if source.strip() and not _asks(source)]
    cells = [
        {"cell_type": "code", "id": f"run-{place}", "metadata": {}, "source": source, "outputs": []}
        for place, source in enumerate(sources)
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


def _asks(source: str) -> bool:
    lines = [line.strip() for line in source.splitlines() if line.strip() and not line.strip().startswith("#")]
    return all(line.startswith(("check(", "from autograder import", "import autograder")) for line in lines)


def as_html(found: dict[str, Any]) -> str:
    """The verdict as a fragment of a page."""
    from autograder.api import CheckResult, Verdict
    from autograder.report import verdict_html

    fields = {**found, "checks": tuple(CheckResult(**one) for one in found["checks"])}
    page = verdict_html(Verdict(**fields))
    if any(one["name"] == "defined" and one["status"] == "failed" for one in found["checks"]):
        page += f"<p>{html.escape(UNDEFINED)}</p>"
    page += "<p><small>This is of the code that the kernel has run.</small></p>"
    if found["sandbox"] == "subprocess":
        page += f"<p>{html.escape('NOT ISOLATED: no sandbox works here, so the code ran with your own rights.')}</p>"
    return page
