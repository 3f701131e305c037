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


class Shown:
    """What a display's handle was told, in place of a front end."""

    def __init__(self):
        self.told = []

    def update(self, data, raw):
        assert raw
        self.told.append(data)


def test_a_check_that_goes_on_says_so_until_its_verdict_is_there(monkeypatch):
    monkeypatch.setattr(notebook, "PROGRESS_S", 0.05)
    shown = Shown()
    notebook._show_verdict_later(shown, CAUSAL.id, [answers(CAUSAL, "right")[0].read_text()])
    *waiting, last = shown.told
    assert waiting and all(notebook.PENDING in data and "Checking" in data["text/plain"] for data in waiting)
    assert notebook.PENDING not in last and last[notebook.MIME]["status"] == "passed"


def test_a_check_that_cannot_be_made_says_why_where_its_verdict_would_be():
    shown = Shown()
    notebook._show_verdict_later(shown, "masks.casual", ["x = 1"])
    assert "no exercise is called" in shown.told[-1]["text/html"] and notebook.MIME not in shown.told[-1]
    assert not notebook._turn.locked()


def test_the_kernel_is_free_while_a_check_goes_on():
    """A kernel asked as front ends ask: the cell has ended, the next one runs, the verdict takes the output's place."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel()
    try:
        client.execute(f'from autograder import check\ncheck("{CAUSAL.id}")', allow_stdin=True)
        client.execute("print('free')", allow_stdin=True)
        seen = []
        while not any(notebook.MIME in data for _, data in seen):
            message = client.get_iopub_msg(timeout=120)
            if message["msg_type"] in ("display_data", "update_display_data", "stream"):
                place = message["content"].get("transient", {}).get("display_id")
                seen.append((place, message["content"].get("data", {"free": 1})))
        assert notebook.PENDING in seen[0][1] and {"free": 1} in [data for _, data in seen]
        assert seen[-1][0] == seen[0][0] and seen[-1][1][notebook.MIME]["status"] == "failed"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
