"""Asking for a check: what is taken for the verdict, what for its absence, and how a check is cut short."""

import json
import signal
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.checking import client, processes

EXERCISE = "masks.causal"
FOUND = {"exercise": EXERCISE, "status": "passed", "file": ""}


@pytest.fixture
def asked(monkeypatch):
    """A client of a script in the place of the autograder, whose arguments are `arguments` there."""
    asking = client.CheckClient(own_group=True)
    monkeypatch.setattr(asking, "processes", processes.WarmProcesses(own_group=True))

    def script(body):
        heading = "import json, pathlib, sys, time\narguments = json.loads(input())\n"
        monkeypatch.setattr(processes, "COMMAND", (sys.executable, "-c", heading + textwrap.dedent(body)))
        return asking

    yield script
    asking.close()


def verdict(asking, answer="x = 1", folder=None, **how):
    with asking.check(EXERCISE, answer, folder) as running:
        return running.verdict(**how)


@pytest.mark.parametrize("other", ["a library says good-bye", '{"exercise": "masks.padding"}', "[]", "1"])
def test_what_a_library_prints_before_or_after_the_verdict_is_not_taken_for_it(asked, other):
    line = json.dumps({**FOUND, "file": "/tmp/x"})
    assert verdict(asked(f"print({other!r}); print({line!r}); print({other!r})")) == FOUND


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("'autograder: no exercise is called x'", "^autograder: no exercise is called x$"),
        ("'a hint\\nModuleNotFoundError: No module named \\'torch\\''", "checks need the Python package torch"),
        ("0", "no verdict and no reason"),
    ],
)
def test_where_there_is_no_verdict_the_last_line_says_why(asked, ending, words):
    with pytest.raises(client.CheckFailed, match=words):
        verdict(asked(f"print('warning'); sys.exit({ending})"))


@pytest.mark.parametrize(
    ("answer", "name", "content"),
    [("x = '\ud800'", "answer.py", "x = '?'"), ([{"source": "\ud800"}], "notebook.ipynb", r'"\ud800"')],
)
def test_an_answer_is_source_or_cells_and_may_hold_what_is_not_utf_8(asked, answer, name, content):
    body = (
        f"file = pathlib.Path(arguments[1])\nprint(json.dumps({FOUND} | dict(name=file.name, text=file.read_text())))"
    )
    found = verdict(asked(body), answer)
    assert found["name"] == name and content in found["text"]


def test_misconceptions_beside_the_notebook_are_used(asked, tmp_path):
    told = f"print(json.dumps({FOUND} | dict(arguments=arguments)))"
    assert "--known" not in verdict(asked(told), folder=tmp_path)["arguments"]
    (tmp_path / "misconceptions.toml").touch()
    assert verdict(asked(told), folder=tmp_path)["arguments"][-2:] == ["--known", str(tmp_path)]


def test_who_waits_is_told_how_long_and_not_for_ever(asked, monkeypatch):
    monkeypatch.setattr(client, "PROGRESS_S", 0.05)
    monkeypatch.setattr(client, "SECONDS", 0.5)
    told = []
    with pytest.raises(client.CheckFailed, match=r"no verdict on masks.causal after 0.5 s: the check was stopped"):
        verdict(asked("time.sleep(60)"), on_progress=told.append)
    assert len(told) > 1 and told == sorted(told) and 0 < told[0] < 0.5


def test_to_leave_the_block_ends_the_check_and_frees_the_thread_that_waits(asked):
    with ThreadPoolExecutor(1) as threads:
        with asked("time.sleep(60)").check(EXERCISE, "x = 1") as running:
            waiting = threads.submit(running.verdict)
        assert isinstance(waiting.exception(timeout=30), client.CheckFailed)
    assert running._process.returncode == -signal.SIGKILL
