"""What `make stopwatch` types and how it reads a Dockerfile; the box itself takes root and minutes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import stopwatch
from tools.stopwatch import EmptyDebian, StopwatchError, commands_of, script_of, steps_of

ROOT = Path(__file__).parents[2]
DOCKERFILE = """\
ARG BASE=a
FROM ${BASE}
# a comment
RUN echo one \\
 && echo two
ENV PATH=/opt/x/bin:$PATH \\
    A=1
USER 1000
"""


def test_the_page_shows_at_most_five_commands_from_nothing_to_exported_scores():
    commands = commands_of(stopwatch.PAGE.read_text(encoding="utf-8"))
    assert 3 <= len(commands) <= stopwatch.COMMANDS
    assert commands[1] == "git clone ADDRESS tfkit && cd tfkit" and "--to csv" in commands[-1]
    assert commands[-1].endswith("-o 02-masks.csv")  # which the stopwatch counts
    assert not any("#" in command for command in commands)


def test_commands_share_a_shell_that_stops_at_the_first_failure(tmp_path):
    script = script_of(["cd /", "pwd", "false", "echo after"])
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "» pwd\n/\n  0 s\n" in done.stdout and "after" not in done.stdout


def test_steps_are_read_whole_and_those_of_the_templates_container_are_known():
    assert [*steps_of(DOCKERFILE)] == [
        ("RUN", "echo one   && echo two"), ("ENV", "PATH=/opt/x/bin:$PATH      A=1"), ("USER", "1000")]  # fmt: skip
    own = (ROOT / "course/templates/course/.devcontainer/Dockerfile").read_text(encoding="utf-8")
    assert {name for name, _ in steps_of(own)} == {"RUN", "ENV", "COPY", "USER", "WORKDIR"}


def test_an_image_is_built_by_its_steps_and_an_unknown_one_is_refused(tmp_path, monkeypatch):
    ran: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(EmptyDebian, "run", lambda self, script, environment: ran.append((script, environment.copy())))
    box = EmptyDebian(tmp_path / "box", {})
    (box.folder / "usr/local/bin").mkdir(parents=True)
    (tmp_path / "Dockerfile").write_text(DOCKERFILE + "COPY Dockerfile /opt/files/\nRUN third\n")
    environment, user = stopwatch.build(box, tmp_path / "Dockerfile", tmp_path)
    assert environment == {"PATH": f"/opt/x/bin:{stopwatch.PATH}", "A": "1"} and user == "1000"
    assert ran == [("echo one   && echo two", {"PATH": stopwatch.PATH}), ("third", environment)]
    assert (box.folder / "opt/files/Dockerfile").is_file()
    (tmp_path / "Dockerfile").write_text(DOCKERFILE + "VOLUME /x\n")
    (box.folder / "usr/local/bin/python").unlink()
    with pytest.raises(StopwatchError, match="has a step VOLUME"):
        stopwatch.build(box, tmp_path / "Dockerfile", tmp_path)


@pytest.mark.parametrize(("took", "code"), [(59.0, 0), (61.0, 1)])
def test_what_takes_longer_than_promised_fails(took, code, monkeypatch, capsys):
    monkeypatch.setattr(stopwatch, "template", lambda options: took)
    assert stopwatch.main(["template"]) == code
    assert f"{took:.0f} s of the 60 that are promised" in capsys.readouterr().out


def test_a_limit_of_no_seconds_is_a_limit(monkeypatch, capsys):
    monkeypatch.setattr(stopwatch, "template", lambda options: 1.0)
    assert stopwatch.main(["template", "--limit", "0"]) == 1
    assert "1 s of the 0 that are promised" in capsys.readouterr().out


@pytest.mark.parametrize("error", [subprocess.CalledProcessError(1, ["git", "clone"]), OSError("no space left")])
def test_a_command_that_fails_is_not_told_as_slow(error, monkeypatch, capsys):
    def fails(options):
        raise error

    monkeypatch.setattr(stopwatch, "first_day", fails)
    assert stopwatch.main(["first-day"]) == 2
    assert capsys.readouterr().err == f"stopwatch: {error}\n"


def test_who_cannot_make_a_box_is_told_why(monkeypatch, capsys):
    monkeypatch.setattr(stopwatch, "PAGE", ROOT / "docs/first-day.md")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert stopwatch.main(["first-day"]) == 2
    assert "only root on Linux can make the box" in capsys.readouterr().err
    if sys.platform == "linux":
        monkeypatch.setattr("os.geteuid", lambda: 0)
        monkeypatch.setattr("shutil.which", lambda name: None)
        assert "there is no debootstrap" in stopwatch.lacking()
