"""`autograder doctor --attack`: what holds is said, what does not is said as well, and nothing is left."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from autograder.attacks import command, race, stage
from autograder.attacks.stage import LIMITS, Machine, attacks, descendants
from autograder.attacks.trial import adopt_orphans
from autograder.cli import main
from autograder.nbgrader import config

FEW = {"files-key-read", "metadata-check-twice"}


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files, which is empty."""
    folder = tmp_path / "t"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def run(*words):
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--attack", *words])
    return ended.value.code


def test_a_few_attacks_are_played_with_the_courses_settings_and_hold(tmp_path, temporary, monkeypatch, capsys):
    course = tmp_path / "course"
    config.install(course)
    with (course / config.CONFIG).open("a") as file:
        file.write("\nc.BoxedExecute.limits = {'call_s': 50.0, 'memory_mb': 777}\n")
    before = stage.fingerprint([course])
    monkeypatch.setattr(command, "SAMPLE", FEW)
    assert run(str(course)) == 0
    printed = capsys.readouterr()
    assert "2 attacks and an honest student" in printed.out and "4 s a call, 777 MB" in printed.out
    for name in FEW:
        assert f"  ✓ {name}: held" in printed.out
    assert "of 3: zz-honest" in printed.err and "2 of 2 attacks got nothing; everything held" in printed.out
    assert stage.fingerprint([course]) == before and not list(temporary.iterdir())


def test_a_folder_for_temporary_files_may_have_a_long_path(tmp_path):
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    with closing(Machine(folder)) as machine:
        door = machine.clues()["SOCKET"]
        with socket.socket(socket.AF_UNIX) as visitor:
            visitor.connect(door)
    assert not Path(door).parent.exists()


def test_an_attack_that_wins_is_said_to_have_won(tmp_path, temporary, monkeypatch, capsys):
    for name, text in (("opens", '"""Finds the door open."""\nwon = True\n'), ("shut", '"""Does not."""\nwon = 0\n')):
        (tmp_path / "hostile/files").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"hostile/files/{name}.py").write_text(text)
    monkeypatch.setattr(stage, "HOSTILE", tmp_path / "hostile")
    monkeypatch.setattr(race, "CLOCK", tmp_path / "clock")
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock/quick.py").write_text('"""Is quick."""\n\ndef scores(x, w):\n    return (x @ w).softmax(-1)\n')
    assert run("--all") == 1
    printed = capsys.readouterr().out
    assert "✗ files-opens: paid 1 of 1, but it is worth 0" in printed and "Finds the door open." in printed
    assert "✓ files-shut: held" in printed
    assert "✗ clock-quick: passed as quick" in printed
    assert "1 of 3 attacks got nothing; 2 faults: do not grade here" in printed


def test_a_sandbox_that_isolates_nothing_is_found_out(temporary):
    """The plain process: a file is read, another one changed, and both are told."""
    players = [attack for attack in attacks() if attack.name in ("files-home-written", "files-key-read")]
    faults, seconds = command.attack(players, {"sandbox": "subprocess", "trust": True, "limits": LIMITS}, 3)
    assert {fault.student for fault in faults} == {"", *(attack.name for attack in players)}
    assert any(fault.what.startswith("changed: ") and fault.what.endswith(".bashrc") for fault in faults)
    lines = "\n".join(command.report(players, faults, seconds))
    assert "✗ files-key-read: paid 1 of 1" in lines and "✗ on this machine: changed: " in lines
    assert not list(temporary.iterdir())


def test_a_course_in_use_is_not_accused_of_what_it_does_itself(tmp_path, monkeypatch, capsys):
    """A submission and the gradebook come and go while the attackers are graded; only a changed release is a fault."""
    course = tmp_path / "course"
    config.install(course)
    (course / "release").mkdir()

    def goes_on(players, settings, count):
        (course / "submitted/ada").mkdir(parents=True)
        (course / "gradebook.db").write_text("a grade")
        (course / "exchange/inbound").mkdir()
        return [], {}

    monkeypatch.setattr(command, "attack", goes_on)
    assert run(str(course)) == 0 and "everything held" in capsys.readouterr().out

    def changes_the_release(players, settings, count):
        (course / "release/a.py").write_text("x")
        return [], {}

    monkeypatch.setattr(command, "attack", changes_the_release)
    assert run(str(course)) == 1
    assert f"changed: {course / 'release/a.py'}" in capsys.readouterr().out


def test_a_file_that_vanishes_meanwhile_has_no_fingerprint(tmp_path, monkeypatch):
    (tmp_path / "a.txt").touch()
    gone = tmp_path / "gone.txt"
    monkeypatch.setattr(Path, "rglob", lambda self, pattern: iter([gone, tmp_path / "a.txt"]))
    assert [Path(path).name for path in stage.fingerprint([tmp_path])] == [tmp_path.name, "a.txt"]


def test_what_would_harm_the_machine_is_played_only_when_all_is_asked_for():
    few, every = command.chosen(False), command.chosen(True)
    assert {attack.family for attack in few} >= {"files", "network", "processes", "scoring", "kernel", "frames"}
    assert len(few) > 20 and not any(attack.harm for attack in few)
    assert len(every) == len(attacks() + race.tricks()) and any(attack.harm for attack in every)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--all",), "--all belongs to --attack"),
        (("--attack", "nowhere"), "nowhere has no nbgrader_config.py"),
    ],
)
def test_what_cannot_be_done_is_refused(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["doctor", *words])
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_ctrl_c_leaves_nothing_behind(tmp_path):
    before = descendants(os.getpid())
    words = [sys.executable, "-m", "autograder", "doctor", "--attack"]
    env = os.environ | {"TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    with adopt_orphans():
        started = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert started.stderr is not None
        assert any(line.startswith("1 of ") for line in started.stderr)  # an attack is graded, and the next one runs
        assert list(tmp_path.glob("autograder-attacks-*"))
        started.send_signal(signal.SIGINT)
        assert "stopped" in started.stderr.read() and started.wait(60) == command.STOPPED
        assert not list(tmp_path.glob("autograder-attacks-*"))
        assert not descendants(os.getpid()) - before


def test_the_machine_ends_what_it_started(tmp_path):
    machine = Machine(tmp_path)
    machine.close()
    assert machine.victim.poll() is not None and not machine.caller.is_alive()
