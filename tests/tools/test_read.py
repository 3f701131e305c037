"""`tfkit read` prints a page: plain in a pipe, in colours on a terminal, and a line where there is none."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from tests.command_line import call
from tfkit.tools import read
from tfkit.tools.cli import main


def test_a_pipe_gets_the_file() -> None:
    result = call(main, "read", "bert")
    assert result.status == 0
    assert result.stdout == (read.FOLDER / "bert.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("how", [["--no-pager"], []], ids=["at once", "through a pager"])
def test_a_terminal_gets_colours(how: list[str]) -> None:
    leader, follower = pty.openpty()
    command = [sys.executable, "-c", "from tfkit.tools.cli import main; main()", "read", "gpt", *how]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "130", "PAGER": "cat"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdin=follower, stdout=follower, env=environment) as process:
        os.close(follower)
        text = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            text += part
    os.close(leader)
    assert process.returncode == 0
    assert b"\x1b[" in text
    plain = re.sub(rb"\x1b\[[0-9;]*m", b"", text).decode().splitlines()
    expected = (read.FOLDER / "gpt.py").read_text(encoding="utf-8").splitlines()
    assert [line.rstrip() for line in plain if line.strip()] == [line for line in expected if line]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rBert", "no page 'rBert'; did you mean bert, "),
        ("gpt-neo", "no page 'gpt-neo'; did you mean gpt_neo, gpt"),
        ("bert-base-uncased", "no page 'bert-base-uncased'; did you mean bert?"),
        ("zzz", f"no page 'zzz'; there are {len(read.pages())} pages; tfkit list names them all"),
    ],
)
def test_no_page_is_one_line_with_what_is_near(name: str, message: str) -> None:
    result = call(main, "read", name)
    assert result.status == 2
    assert result.output.startswith(f"tfkit read: {message}")
    assert result.output.count("\n") == 1


def test_a_stranger_without_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read.registry, "sources", lambda: {"mine": "elsewhere.mine"})
    with pytest.raises(LookupError, match="mine is of another package and has no page; tfkit flatten mine"):
        read.page("mine")
    assert read.changes("mine", "bert") is None


def test_pages_are_compared() -> None:
    text = read.changes("bert", "roberta")
    assert text is not None
    assert "+        position_ids = is_token.cumsum(-1) * is_token + self.pad_token_id" in text
    assert not [line for line in text.splitlines() if line[:1] in "+-" and "scores" in line]  # attention is the same
    assert read.changes("bert", "bert") == ""
