"""`check("attention.attend")` in a notebook: runs the same engine in a separate process on the cells run so far."""

from __future__ import annotations

import contextvars
import html
import sys
import threading
import time
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

from autograder.api import CheckResult, Verdict
from autograder.checking import client, kernel_state
from autograder.checking.client import CheckClient, CheckFailed, OnProgress
from autograder.console.kernel import has_front_end
from autograder.exercises import registry
from autograder.exercises.contracts import MARK
from autograder.feedback.html import style, verdict_html
from autograder.feedback.translate import say
from autograder.feedback.words import NO_SANDBOX, SIGNS, STATES
from autograder.ordering.answer import program_of, read_answer

MIME = "application/vnd.tfkit.verdict+json"  # the lab's front end reads it to store progress
PENDING = "application/vnd.tfkit.pending+json"  # of a running check, whose output is later replaced by its verdict
NOT_RUN = "application/vnd.tfkit.not-run+json"  # instead of a verdict; the front end offers to run the cells above
NO_ANSWER = "The cell with your answer has not been run in this kernel, which knows nothing from before it was started."
NO_NAMES = "{names} is not defined in this kernel: cells above have not been run since it was started."
KEPT = (
    "So this check does not count, and an earlier result stays. Run the cells above this one (Run > Run All Above "
    "Selected Cell), then check again."
)
PRACTICE = (
    "This is a practice verdict, made in this tab, and not a grade. Your submission is graded elsewhere, by all checks."
)
ASKS = "Can you say what your code does? Two or three questions about it:"
BROWSER = "emscripten"  # Python in a browser tab
STILL_CHECKING = "Go on working: the verdict will appear here."
_client = CheckClient(trust=True)
_turn = threading.Lock()  # "Run All" starts many checks at once; one after the other they finish sooner


def check(exercise: str) -> None:
    """Grade the cells that this notebook has run so far and show the verdict; raises CheckFailed if that is impossible.

    In an interactive notebook the call returns at once: the check runs in the background, and its output says so
    until the verdict replaces it. A program that runs the notebook waits for the verdict.
    """
    from IPython import get_ipython
    from IPython.display import display

    shell = get_ipython()
    if shell is None:
        raise CheckFailed("check() works in a notebook; for a file use `autograder check EXERCISE FILE`")
    history, names = list(shell.user_ns.get("In", [])), frozenset(shell.user_ns)
    if sys.platform == BROWSER:  # no processes or threads there
        from autograder.grade.practice import practice_verdict

        display(output(exercise, history, names, lambda: practice_verdict(exercise, history, shell.user_ns)), raw=True)
        return
    if not has_front_end(shell):
        display(output(exercise, history, names, lambda: verdict(exercise, history)), raw=True)
        return
    shown = display(pending(exercise, 0.0), raw=True, display_id=True)
    context = contextvars.copy_context()  # tells the kernel which cell the output belongs to
    arguments = (_show_verdict_later, shown, exercise, history, names)
    threading.Thread(target=context.run, args=arguments, name=f"check {exercise}", daemon=True).start()


def _show_verdict_later(shown: Any, exercise: str, history: list[str], names: Container[str] = ()) -> None:
    """Replace the output of a running check by its verdict, or by the reason why there is none."""
    started = time.monotonic()

    def on_progress(_: float) -> None:
        """Show how long the check has taken."""
        shown.update(pending(exercise, time.monotonic() - started), raw=True)

    try:
        while not _turn.acquire(timeout=client.PROGRESS_S):
            on_progress(0.0)
        try:
            found = output(exercise, history, names, lambda: verdict(exercise, history, on_progress))
        finally:
            _turn.release()
    except Exception as error:  # nobody waits for this thread, so the error is shown in place of the verdict
        message = str(error) if isinstance(error, CheckFailed) else f"{type(error).__name__}: {error}"
        found = {"text/html": f"<p>{html.escape(message)}</p>", "text/plain": f"{exercise}: {message}"}
    shown.update(found, raw=True)


def output(
    exercise: str, history: list[str], names: Container[str], judge: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """The output of a check: that of the verdict, unless cells that it needs have not been run in this kernel.

    history, names: what the kernel has run, and the names that it knows.
    """
    if kernel_state.missing_answer(exercise, history, names):
        return not_run(exercise, say(NO_ANSWER))
    found = judge()
    if missing := kernel_state.missing_names(found, history, names):
        return not_run(exercise, say(NO_NAMES, names=", ".join(missing)))
    return bundle(found, exercise)


def not_run(exercise: str, reason: str) -> dict[str, Any]:
    """The output of a check that says nothing about the answer. No front end stores it as a result."""
    page = (
        f'{style()}<div class="tfkit-verdict tfkit-is-not_run"><div class="tfkit-v-head"><span class="tfkit-v-badge">'
        f"{SIGNS['not_run']} {say(STATES['not_run'])}</span> <code>{html.escape(exercise)}</code></div>"
        f"<p><b>{html.escape(reason)}</b> {html.escape(say(KEPT))}</p></div>"
    )
    return {"text/html": page, "text/plain": f"{exercise}: {reason} {say(KEPT)}",
            NOT_RUN: {"exercise": exercise.partition(MARK)[0], "reason": reason}}  # fmt: skip


def pending(exercise: str, seconds: float) -> dict[str, Any]:
    """The output of a running check."""
    since = say("Checking, {seconds} s", seconds=f"{seconds:.0f}") if seconds >= client.PROGRESS_S else say("Checking")
    page = (
        f'{style()}<div class="tfkit-verdict tfkit-is-pending"><div class="tfkit-v-head"><span class="tfkit-v-badge">'
        f"… {since}</span> <code>{html.escape(exercise)}</code></div><p>{say(STILL_CHECKING)}</p></div>"
    )
    return {
        "text/html": page,
        "text/plain": f"{exercise}: {since} …",
        PENDING: {"exercise": exercise.partition(MARK)[0]},
    }


def bundle(found: dict[str, Any], asked: str = "") -> dict[str, Any]:
    """The verdict as a notebook output: an HTML fragment, a line of text, and its outcome for the course panel.

    asked: the exercise as the check named it, with its contract; by default the verdict's.
    """
    outcome = {key: found.get(key) for key in ("exercise", "status", "score", "max_score", "misconception")}
    line = f"{found['exercise']}: {found['status'].replace('_', ' ')}, {found['score']:g} of {found['max_score']:g}"
    return {"text/html": as_html(found, asked), "text/plain": line, MIME: outcome}


def verdict(exercise: str, history: list[str], on_progress: OnProgress = lambda _: None) -> dict[str, Any]:
    """The verdict on the cells of `history`, as the object that `autograder check --json` prints.

    Raises CheckFailed if there is none.
    """
    with _client.check(exercise, _cells(history), Path.cwd()) as running:
        return running.verdict(on_progress)


def _cells(history: list[str]) -> list[dict[str, Any]]:
    """The cells in the order in which they were run, without those that only call `check`."""
    sources = [_with_program(source) for source in history if source.strip() and not _only_checks(source)]
    return [
        {"cell_type": "code", "id": f"run-{index}", "metadata": {}, "source": source, "outputs": []}
        for index, source in enumerate(sources)
    ]


def _with_program(source: str) -> str:
    """The cell, or the program of the order of lines that it hands in."""
    handed_in = read_answer(source)
    if handed_in is None:
        return source
    try:
        exercise = registry.find(handed_in.exercise)
    except registry.UnknownExercise:
        return source
    return program_of(source, exercise, handed_in.student) or source


def _only_checks(source: str) -> bool:
    lines = [line.strip() for line in source.splitlines() if line.strip() and not line.strip().startswith("#")]
    return all(line.startswith(("check(", "from autograder import", "import autograder")) for line in lines)


def as_html(found: dict[str, Any], asked: str = "") -> str:
    """The verdict as an HTML fragment. asked: as `bundle` has it."""
    fields = {**found, "checks": tuple(CheckResult(**one) for one in found["checks"])}
    page = verdict_html(Verdict(**fields))
    page += f"<p><small>{say('This result is for the code that the kernel has run.')}</small></p>"
    if found["status"] == "passed" and found["sandbox"] != "practice":
        asks = f"from autograder import ask; ask(&quot;{html.escape(asked or found['exercise'])}&quot;)"
        page += f"<p><small>{html.escape(say(ASKS))} <code>{asks}</code></small></p>"
    if found["sandbox"] == "practice":
        page += f"<p><small>{html.escape(say(PRACTICE))}</small></p>"
    if found["sandbox"] == "subprocess":
        page += f"<p>{html.escape(say(NO_SANDBOX))}</p>"
    return page
