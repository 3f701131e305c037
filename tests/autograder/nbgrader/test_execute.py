"""What grading says in the terminal while it goes on."""

import logging

from autograder.api import CheckResult, Verdict
from autograder.nbgrader.execute import BoxedExecute

LACK = CheckResult(name="on a CUDA device", status="not_run", message="this machine has no CUDA device", weight=0.0)


def verdict(exercise, **changed):
    base = {"status": "passed", "score": 1.0, "max_score": 1.0, "reason": "Not run here: a check.", "checks": (LACK,)}
    return Verdict(exercise=exercise, **(base | changed))


def test_what_this_machine_lacks_is_said_once(caplog, monkeypatch):
    monkeypatch.setattr(BoxedExecute, "_logged_not_run", set())
    found = (verdict("masks.causal"), verdict("masks.padding"), verdict("masks.softmax"))
    for student in ("ada", "ben"):
        step = BoxedExecute()
        step.log = logging.getLogger("grading")
        with caplog.at_level("INFO", logger="grading"):
            step._progress(f"{student} · 02-masks", found)
    said = [record.message for record in caplog.records]
    assert said[0] == "ada · 02-masks: ✓ masks.causal 1/1"
    assert [line for line in said if "CUDA" in line] == [
        "not run, and no points lost: on a CUDA device (this machine has no CUDA device)"
    ]
    assert len(said) == 7


def test_why_a_check_of_a_wrong_answer_was_not_run_is_in_its_verdict_alone(caplog, monkeypatch):
    monkeypatch.setattr(BoxedExecute, "_logged_not_run", set())
    step = BoxedExecute()
    step.log = logging.getLogger("grading")
    with caplog.at_level("INFO", logger="grading"):
        step._progress("ada", (verdict("masks.causal", status="failed", score=0.0, reason="it raised an error"),))
    assert [record.message for record in caplog.records] == ["ada: ✗ masks.causal 0/1 · it raised an error"]
