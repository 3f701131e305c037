"""`check()` in a notebook: what was run goes to the engine in another process, and the verdict comes back."""

import pytest

from autograder import notebook, registry
from autograder.answers import answers

CAUSAL = registry.find("masks.causal")


def test_what_was_run_is_graded():
    right = answers(CAUSAL, "right")[0].read_text()
    history = ["", "from autograder import check", right, f'check("{CAUSAL.id}")']
    found = notebook.verdict(CAUSAL.id, history)
    assert found["status"] == "passed"
    assert CAUSAL.id in notebook.as_html(found) or "passed" in notebook.as_html(found).lower()


def test_the_last_definition_counts():
    right, wrong = (answers(CAUSAL, kind)[0].read_text() for kind in ("right", "wrong"))
    assert notebook.verdict(CAUSAL.id, [right, wrong])["status"] == "failed"


def test_after_a_restart_it_says_to_run_the_answer_first():
    found = notebook.bundle(notebook.verdict(CAUSAL.id, [f'from autograder import check\n\ncheck("{CAUSAL.id}")']))
    assert "Run the cell with your answer first" in found["text/html"]
    assert found["text/plain"] == f"{CAUSAL.id}: failed, 0 of {CAUSAL.points:g}"
    wrong = notebook.verdict(CAUSAL.id, [answers(CAUSAL, "wrong")[0].read_text()])
    assert "Run the cell with your answer first" not in notebook.as_html(wrong)


def test_an_exercise_that_is_not_there():
    with pytest.raises(notebook.CheckFailed, match="no exercise is called"):
        notebook.verdict("masks.casual", ["x = 1"])
