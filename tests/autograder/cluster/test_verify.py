"""Graded again, a verdict is the same, or every difference is named."""

import shutil
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import pytest
from rich.console import Console

from autograder import cli
from autograder.cluster import command, history, job, verify
from autograder.cluster.changes import Change
from autograder.cluster.course import BadCourse
from autograder.cluster.pool import JobOutcome
from autograder.cluster.verify import VerifyOptions
from autograder.report import page

from .conftest import IDS, UNIT, find

SUM = UNIT + ": {} of {} verdicts equal when graded again ({} submissions)"


class HerePool:
    """A pool whose one worker is this process."""

    def grade(self, work):
        for one in work:
            yield JobOutcome(one.key, job.GradingRecord.from_bytes(job.grade(one.bundle())))


@pytest.fixture(autouse=True)
def here(monkeypatch):
    @contextmanager
    def local(*_):
        yield HerePool()

    monkeypatch.setattr("autograder.cluster.pool.local", local)


def hand_in(course, students, answer="# right"):
    for student in students:
        nb = course.released()
        for exercise in IDS:
            find(nb, f"solution-{exercise.replace('.', '-')}").source = "# right"
        find(nb, f"solution-{IDS[0].replace('.', '-')}").source = f"{answer}\n# {student}"
        course.hand_in(student, nb)


def run(function, options):
    console = Console(record=True, width=80, highlight=False)
    code = function(options, console)
    return code, console.export_text().splitlines()


def test_the_same_verdicts_are_counted_and_the_report_says_so(course):
    hand_in(course, ["ada", "ben", "chen"])
    with pytest.raises(BadCourse, match="no submission is graded"):
        run(verify.verify, VerifyOptions(course.root, UNIT))
    assert run(command.grade, command.Options(course.root, UNIT))[0] == 0
    assert history.verifications(course.root, UNIT) == []
    many = 3 * len(IDS)
    assert run(verify.verify, VerifyOptions(course.root)) == (0, [SUM.format(many, many, 3)])
    assert run(verify.verify, VerifyOptions(course.root, UNIT, sample=2))[1] == [
        SUM.format(2 * len(IDS), 2 * len(IDS), 2)
    ]
    found = history.verifications(course.root, UNIT)
    assert [(one.verdicts, one.equal) for one in found] == [(many, many), (2 * len(IDS), 2 * len(IDS))]
    words = f"{5 * len(IDS)} of {5 * len(IDS)} verdicts were equal when graded again"
    assert words in page.page(UNIT, [], verified=found)
    assert course.grades("ada") == course.grades("chen")


def test_every_difference_is_named_with_student_exercise_and_points(course, capsys):
    hand_in(course, ["ada"])
    hand_in(course, ["ben"], "# right # once")
    assert run(command.grade, command.Options(course.root, UNIT))[0] == 0
    before = course.grades("ben")
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        cli.main(["verify", str(course.root), UNIT])
    lines = capsys.readouterr().out.splitlines()
    assert stop.value.code == 1
    assert lines == [f"✗ ben · {UNIT} · {IDS[0]}: 2 → 0", SUM.format(2 * len(IDS) - 1, 2 * len(IDS), 2)]
    assert course.grades("ben") == before  # it only compares


def test_what_was_submitted_or_checked_otherwise_is_left_out(course, monkeypatch):
    hand_in(course, ["ada", "ben"])
    assert run(command.grade, command.Options(course.root, UNIT))[0] == 0
    shutil.rmtree(course.root / "submitted" / "ben")
    hand_in(course, ["ben"], "# right, and better")
    hand_in(course, ["chen"])
    code, lines = run(verify.verify, VerifyOptions(course.root, UNIT))
    assert code == 0 and lines == [
        f"{UNIT}: 2 submissions are not graded yet: left out", SUM.format(len(IDS), len(IDS), 1)
    ]  # fmt: skip
    monkeypatch.setattr("autograder.cluster.course.hash_of_checks", lambda *_: "another version")
    with pytest.raises(BadCourse, match="nothing to verify"):
        run(verify.verify, VerifyOptions(course.root, UNIT))


def test_after_an_upgrade_it_says_who_would_gain_or_lose(course, monkeypatch):
    hand_in(course, ["ada", "ben"])
    hand_in(course, ["chen"], "# right # once")  # the engine finds it wrong the second time
    with monkeypatch.context() as earlier:
        for place in ("course", "job"):
            earlier.setattr(f"autograder.cluster.{place}.hash_of_checks", lambda *_: "of an earlier release")
        assert run(command.grade, command.Options(course.root, UNIT))[0] == 0
    before = course.grades("chen")
    code, lines = run(verify.verify, VerifyOptions(course.root, upgraded=True))
    assert code == 1 and lines == [
        f"✗ chen · {UNIT} · {IDS[0]}: 2 → 0",
        f"{UNIT}: 3 submissions were graded with other checks; graded with these, 0 students would gain points and 1 "
        "would lose some",
    ]
    assert course.grades("chen") == before and history.verifications(course.root, UNIT) == []
    said = "\n".join(run(command.grade, command.Options(course.root, UNIT))[1])
    assert "3 of them with other checks: `autograder verify --upgraded`" in said
    assert run(command.grade, command.Options(course.root, UNIT, regrade=True, yes=True))[0] == 0
    code, lines = run(verify.verify, VerifyOptions(course.root, upgraded=True))
    assert (code, lines) == (0, ["nothing was graded with other checks than those of this release"])


def test_students_who_gain_are_counted_apart_from_those_who_lose_and_wait():
    found = verify.RegradePreview(UNIT, submissions=5)
    rows = [("ada", "1", "2"), ("ada", "0.5", "0"), ("ben", "1", "0.5"), ("chen", "not graded", "1"), ("dan", "1", "1")]
    found.differences = [
        Change(student, "x", old, new, ("new name: not there → passed",)) for student, old, new in rows
    ]
    lines = list(found.lines())
    assert len(lines) == 5 and not any("dan" in line for line in lines)
    assert "1 students would gain points and 1 would lose some, 1 have an exercise" in lines[-1]


def test_what_waits_for_a_person_is_left_out(course):
    hand_in(course, ["ada"])
    hand_in(course, ["ben"], "# raise")
    assert run(command.grade, command.Options(course.root, UNIT))[0] == 0
    code, lines = run(verify.verify, VerifyOptions(course.root, UNIT))
    assert (code, lines[0]) == (0, f"{UNIT}: 1 submissions wait for a person: left out")


def test_grading_a_class_grades_one_in_twenty_again(course):
    hand_in(course, [f"s{number:02}" for number in range(20)], "# right # once")
    code, lines = run(command.grade, command.Options(course.root, UNIT))
    assert code == 2 and SUM.format(len(IDS) - 1, len(IDS), 1) in lines
    assert [line.partition(": ")[2] for line in lines if line.startswith("✗") and " · " in line] == ["2 → 0"]
    assert "all 20 submissions are graded already" in "\n".join(
        run(command.grade, command.Options(course.root, UNIT))[1]
    )


class TwoPool(HerePool):
    """Two workers, of which `lies` gives everybody full marks; another one grades the second time if there is one."""

    def __init__(self, lies="", workers=("tcp://a:1", "tcp://b:1")):
        self.lies, self.workers = lies, workers

    def grade(self, work):
        for task, done in ((one, next(super(TwoPool, self).grade([one]))) for one in work):
            worker = next((one for one in self.workers if one != task.not_by), self.workers[0])
            if worker == self.lies:
                for verdict in done.record.verdicts:
                    verdict.update(score=verdict["max_score"], status="passed")
            yield replace(done, worker=worker)


@pytest.mark.parametrize("regrade", [False, True])
def test_a_worker_that_makes_marks_up_is_named(course, monkeypatch, regrade):
    """Of a cluster's workers at least one submission is graded again, however few there are; of a regrade, too."""
    hand_in(course, ["ada"], "nothing")
    monkeypatch.setattr("autograder.cluster.pool.remote", lambda *_: nullcontext(TwoPool("tcp://a:1")))
    options = command.Options(course.root, UNIT, scheduler="tcp://127.0.0.1:1", regrade=regrade, yes=True)
    code, lines = run(command.grade, options)
    told = " ".join(" ".join(lines).split())
    assert code == 2 and f"✗ ada · {UNIT} · {IDS[0]}: 2 → 0" in told
    assert ", first graded by tcp://a:1, then by tcp://b:1" in told
    assert SUM.format(len(IDS) - 1, len(IDS), 1)[:-1] + ", by other workers)" in told


def test_one_worker_alone_is_said_to_have_graded_both_times(course, monkeypatch):
    hand_in(course, ["ada"])
    monkeypatch.setattr("autograder.cluster.pool.remote", lambda *_: nullcontext(TwoPool(workers=["tcp://a:1"])))
    code, lines = run(command.grade, command.Options(course.root, UNIT, scheduler="tcp://127.0.0.1:1"))
    assert code == 0 and "1 by the worker that graded them first: there was no other" in " ".join(lines)


@pytest.mark.parametrize(("share", "again"), [(0, 0), (0.4, 2), (1, 5)])
def test_the_course_says_how_many_are_graded_again(course, share, again):
    (course.root / "course.toml").write_text(f"[grading]\nagain = {share}\n")
    hand_in(course, [f"s{number}" for number in range(5)])
    _, lines = run(command.grade, command.Options(course.root, UNIT))
    assert (SUM.format(again * len(IDS), again * len(IDS), again) in lines) == (again > 0)
    assert any("graded again" in line for line in lines) == (again > 0)


def test_a_share_that_is_none_is_refused_before_anything_is_graded(course):
    (course.root / "course.toml").write_text("[grading]\nagain = 20\n")
    hand_in(course, ["ada"])
    with pytest.raises(BadCourse, match=r"\[grading\]: again = 20 must be a number from 0 to 1"):
        run(command.grade, command.Options(course.root, UNIT))
