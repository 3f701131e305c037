"""A worker gets the seeds of the submission that it grades, and can find the course's key nowhere."""

from __future__ import annotations

import base64
import json
import os
import shutil
import zlib
from pathlib import Path
from types import SimpleNamespace

import distributed.comm.tcp
import pytest
from rich.console import Console

from autograder.cluster import bundle, command, seeds
from autograder.cluster.course import Course
from autograder.exercises import registry
from autograder.exercises.answers import answers

from .conftest import IDS, UNIT, Class, find

ANSWER = f"solution-{IDS[0].replace('.', '-')}"
STUDENTS = ("ada", "ben", "chen")


def hand_in(course: Class, student: str, answer: str) -> None:
    nb = course.released()
    find(nb, ANSWER).source = answer
    course.hand_in(student, nb)


def sent(course: Class, student: str) -> bundle.Bundle:
    opened = Course(course.root, UNIT)
    (one,) = [one for one in opened.submissions() if one.key.student == student]
    return bundle.Bundle.from_bytes(opened.bundle(one))


def test_a_submission_is_sent_its_own_seeds_and_they_stay_while_its_code_does(course):
    hand_in(course, "ada", "# right")
    hand_in(course, "ben", "# right")
    ada, ben = (sent(course, student).seeds[UNIT] for student in ("ada", "ben"))
    assert set(ada) == set(IDS) and not set(ada.values()) & set(ben.values())
    again = course.released()
    find(again, ANSWER).source = "# right"
    again.cells[0].source = "Other words, which are not run."
    shutil.rmtree(course.root / "submitted" / "ada")
    course.hand_in("ada", again)
    assert sent(course, "ada").seeds[UNIT] == ada
    shutil.rmtree(course.root / "submitted" / "ada")
    hand_in(course, "ada", "# right, and another attempt")
    assert not set(sent(course, "ada").seeds[UNIT].values()) & set(ada.values())


def test_another_courses_key_draws_other_seeds(course):
    hand_in(course, "ada", "# right")
    before = sent(course, "ada").seeds[UNIT]
    (course.root / "course.key").write_bytes(bytes(32))
    after = sent(course, "ada").seeds[UNIT]
    assert set(after) == set(before) and not set(after.values()) & set(before.values())


def test_a_notebook_that_cannot_be_rebuilt_stops_nobody_and_says_nothing_here(course, monkeypatch, capfd):
    hand_in(course, "ada", "# right")
    course.hand_in("ben", "{" * 10)
    assert sent(course, "ben").seeds[UNIT].keys() == set(IDS)  # restored cells: it earns nothing, by a worker's word
    monkeypatch.setattr(seeds, "rebuilt", lambda *_: 1 / 0)
    assert sent(course, "ada").seeds == {}
    assert capfd.readouterr().err == ""


# -- real workers ------------------------------------------------------------------------------------------------------
def forms(key: bytes) -> dict[str, bytes]:
    """The key as it could be written: in bytes, digits, base 64, or as JSON and Python write bytes."""
    in_json = json.dumps(key.decode("latin-1"))[1:-1].encode()
    listed = json.dumps([*key])[1:-1].encode()
    found = {"bytes": key, "hex": key.hex().encode(), "base64": base64.b64encode(key), "JSON": in_json,
             "list": listed, "repr": repr(key)[2:-1].encode()}  # fmt: skip
    return found | {"base64 of a part": base64.b64encode(key[:30])}


def memory_of(pid: int) -> bytes:
    """All that the process holds in memory that it can write."""
    found = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            place, rights, *_ = line.split()
            first, last = (int(part, 16) for part in place.split("-"))
            if rights.startswith("rw"):
                memory.seek(first)
                found.append(memory.read(last - first))
    return b"\0".join(found)


class Look:
    """What two workers hold once they have graded a class, and what was sent to them and by them."""

    def __init__(self) -> None:
        self.wire: list[bytes] = []
        self.held: dict[str, bytes] = {}

    def record(self, write):
        """Dask's function that makes frames of a message, which are encrypted after that."""

        async def to_frames(*arguments, **options):
            frames = await write(*arguments, **options)
            self.wire += [bytes(frame) for frame in frames]
            return frames

        return to_frames

    def at(self, pool) -> None:
        """Looks into the workers' processes, and into those beside them that grade."""
        for address, worker in pool.client.run(_describe).items():
            for process in worker["processes"]:
                self.held[f"memory of {process} at {address}"] = memory_of(process)
                self.held[f"environment of {process} at {address}"] = Path(f"/proc/{process}/environ").read_bytes()
            for folder in worker["folders"]:
                files = [path for path in Path(folder).rglob("*") if path.is_file()]
                self.held[f"files in {folder}"] = b"\0".join(path.read_bytes() for path in files)


def _describe(dask_worker):
    from autograder.cluster import grading_process

    beside = grading_process._own._process
    processes = [os.getpid(), *([beside._process.pid] if beside._process else [])]
    return {"processes": processes, "folders": [os.getcwd(), dask_worker.local_directory]}


@pytest.mark.slow
def test_no_worker_of_a_cluster_can_find_the_key(course, tmp_path_factory, monkeypatch):
    for student in STUDENTS:
        hand_in(course, student, f"# right, by {student}")
    key, drawn = (course.root / "course.key").read_bytes(), sent(course, "ada").seeds[UNIT]
    monkeypatch.chdir(tmp_path_factory.mktemp("workers"))  # a worker needs nothing of the course's folder
    readable = vars(zlib) | {"compress": lambda data, _: zlib.compress(data, 0)}
    monkeypatch.setattr(bundle, "zlib", SimpleNamespace(**readable))
    look = Look()
    monkeypatch.setattr(distributed.comm.tcp, "to_frames", look.record(distributed.comm.tcp.to_frames))
    monkeypatch.setattr(command.GradingRun, "_verify_some", lambda run, round, pool: look.at(pool))
    assert command.grade(command.Options(course.root, UNIT, workers=2), Console(quiet=True)) == 0
    wire = b"\0".join(look.wire)
    assert all(f"# right, by {student}".encode() in wire for student in STUDENTS)
    assert str(drawn[IDS[0]]).encode() in wire
    memory = [held for name, held in look.held.items() if name.startswith("memory")]
    assert len(memory) == 4 and all(b"autograder.cluster.grading_process" in held for held in memory)
    assert sum(b"OMP_NUM_THREADS" in held or b"PATH=" in held for name, held in look.held.items()) >= 4
    for name, form in forms(key).items():
        assert form not in wire, name
        assert [place for place, held in look.held.items() if form in held] == [], name


def verdicts(course: Class) -> dict[str, list[tuple]]:
    """Student → what was made of each exercise, and with which seed."""
    found = {}
    for student in STUDENTS:
        verdicts = (cell.metadata.get("tfkit", {}).get("verdict") for cell in course.graded(student).cells)
        found[student] = [
            (one["exercise"], one["seed"], one["status"], one["score"], one["checks"], one["hint"])
            for one in filter(None, verdicts)
        ]
    return found


@pytest.mark.slow
def test_two_workers_give_the_grades_of_nbgrader_autograde_and_check_each_other(course, tmp_path_factory):
    """With the engine itself: each submission is graded by one worker, then by the other one, and by nbgrader."""
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text().replace('c.BoxedExecute.engine = "slow_engine', "# "))
    (course.root / "course.toml").write_text("[grading]\nagain = 1\n")
    exercise = registry.find(IDS[0])
    for student, way, number in zip(STUDENTS, ("right", "wrong", "wrong"), (0, 0, 1), strict=True):
        hand_in(course, student, answers(exercise, way)[number].read_text())
    other = Class(shutil.copytree(course.root, tmp_path_factory.mktemp("stock") / "course"))
    other.nbgrader("autograde", UNIT)
    said = course.grade("--workers", "2")
    assert "9 of 9 verdicts equal when graded again (3 submissions, by other workers)" in " ".join(said.split()), said
    assert verdicts(course) == verdicts(other)
    first = [found[0] for found in verdicts(course).values()]
    assert [status for _, _, status, *_ in first] == ["passed", "failed", "failed"] and len(
        {one[1] for one in first}
    ) == 3
