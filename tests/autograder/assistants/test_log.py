"""The log: lines that can be read again, a table of them, and one sentence where it cannot be written."""

import io
import json
import os

import pytest
from rich.console import Console

from autograder import cli
from autograder.assistants.log import AssistantLog, LogError, fingerprint, read, table


def test_lines_are_read_again_and_damaged_ones_are_passed_over(tmp_path):
    log = AssistantLog(tmp_path / "deep" / "log.jsonl")
    log.write("check", "client 1", {"exercise": "masks.causal", "status": "failed", "code": fingerprint("a\nb\n")})
    with log.file.open("a") as file:
        file.write("{half a line\n[1]\n")
    log.write("hint", "c" * 5000, {"exercise": "masks.causal", "level": 2})
    found = read(log.file)
    assert [entry["tool"] for entry in found] == ["check", "hint"] and found[0]["code"]["lines"] == 2
    assert len(found[1]["client"]) == 300 and log.of_student() == found
    assert log.file.stat().st_mode & 0o077 == 0, "others on the machine must not read it"


def test_the_table_counts_by_student_and_exercise(tmp_path):
    log = AssistantLog(tmp_path / "log.jsonl")
    for status in ("failed", "passed"):
        log.write("check", "c", {"exercise": "masks.causal", "status": status, "misconception": None})
    log.write("hint", "c", {"exercise": "masks.causal", "level": 2})
    log.write("hint", "c", {"exercise": "masks.causal", "level": 3, "refused": "steps are given in order"})
    out = io.StringIO()
    Console(file=out, width=160).print(table(read(log.file)))
    row = next(line for line in out.getvalue().splitlines() if "masks.causal" in line).split()
    assert row[-4:] == ["2", "0/1/0", "1", "passed"]


def test_no_text_of_the_log_controls_the_terminal(tmp_path):
    """The name of a client is its own, and in a student's folder the whole log."""
    log = AssistantLog(tmp_path / "log")
    log.write("check", "\x1b]0;title\x07\x1b[2Ja client\n\u202e", {"exercise": "masks.causal", "status": "passed"})
    with log.file.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"tool": "check", "status": "x" * 100_000, "student": "\x1b[31mred"}) + "\n")
    shown = io.StringIO()
    Console(file=shown, width=2000).print(table(read(log.file)))
    text = shown.getvalue()
    assert "a client" in text and "\\x1b[2J" in text and len(text) < 20_000
    assert not set("\x1b\x07\u202e") & set(text)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_a_pipe_or_a_link_in_place_of_the_log_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name, why in (("pipe", "it is not a regular file"), ("link", "it is a link")):
        with pytest.raises(LogError, match=f"{name}: {why}: move it away"):
            read(tmp_path / name)


def test_a_log_that_cannot_be_written_is_told_before_anything_is_served(tmp_path):
    (tmp_path / ".tfkit").write_text("a file in the way")
    with pytest.raises(LogError, match=".tfkit"):
        AssistantLog(tmp_path / ".tfkit" / "log.jsonl")


def test_the_command_shows_it(tmp_path, capsys):
    file = tmp_path / ".tfkit" / "assistants.jsonl"
    with pytest.raises(SystemExit) as ended:
        cli.main(["mcp", str(tmp_path), "--log"])
    assert ended.value.code == 2 and "nothing is logged" in capsys.readouterr().err
    file.parent.mkdir()
    file.write_text(
        json.dumps({"tool": "check", "student": "ada", "exercise": "masks.causal", "status": "passed"}) + "\n"
    )
    with pytest.raises(SystemExit) as ended:
        cli.main(["mcp", str(tmp_path), "--log"])
    assert ended.value.code == 0 and "ada" in capsys.readouterr().out


def test_a_course_that_is_not_there_is_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["mcp", str(tmp_path / "nowhere")])
    assert ended.value.code == 2 and capsys.readouterr().err.count("\n") == 1
