"""`autograder serve`: what arrives in the exchange is graded and goes back, once, whatever stops the service when."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import notebook_hash
from rich.console import Console

from autograder import sandbox
from autograder.cluster import job
from autograder.cluster.pool import JobOutcome
from autograder.cluster.records import Records
from autograder.cluster.scores import ExportError
from autograder.marking import regrades
from autograder.nbgrader import config, execute
from autograder.serve import command, status
from autograder.serve import course as served
from autograder.serve.feedback import FeedbackError, give_feedback
from tfkit_course.interrupt import Interrupt

from ..cluster.conftest import ENV, make
from ..nbgrader.conftest import HERE, IDS, POINTS, UNIT, find, own_course, released

released, own_course = released, own_course  # fixtures: a released course with an engine that reads words
FULL = {exercise: (POINTS, False) for exercise in IDS}


class HerePool:
    """A pool whose one worker is this process; `dying` students raise as a lost worker does."""

    def __init__(self):
        self.dying, self.sent = set(), []

    def slots(self):
        return 1

    def grade(self, work):
        for one in work:
            self.sent.append(one.key.student)
            if one.key.student in self.dying:
                yield JobOutcome(one.key, error="the worker died")
            else:
                yield JobOutcome(one.key, job.GradingRecord.from_bytes(job.grade(one.bundle())))


def submit(course, student, nb=None, when="2026-11-01 10:00:00.000000 UTC", whole=True):
    """What `nbgrader submit` leaves in the exchange."""
    folder = course.root / "exchange/tfkit/inbound" / f"{student}+{UNIT}+{when}"
    folder.mkdir(parents=True)
    (folder / f"{UNIT}.ipynb").write_text(nbformat.writes(nb or course.released()))
    if whole:
        (folder / "timestamp.txt").write_text(when)
        (folder / "submission_secret.txt").write_text(f"secret of {student} {when}")
    return folder


def wrong(course):
    nb = course.released()
    find(nb, f"solution-{IDS[0].replace('.', '-')}").source = "# wrong"
    return nb


def page(course, student, when="2026-11-01 10:00:00.000000 UTC"):
    """The page that `nbgrader fetch_feedback` would find."""
    name = notebook_hash(secret=f"secret of {student} {when}", notebook_id=UNIT)
    return course.root / "exchange/tfkit/feedback" / f"{name}.html"


@pytest.fixture
def course(own_course, monkeypatch):
    """The course; its engine can be imported here, and needs no box."""
    monkeypatch.syspath_prepend(str(HERE))
    for place in (sandbox, job, execute):
        monkeypatch.setattr(place, "choose", lambda *_, **__: None)
    monkeypatch.chdir(own_course.root)
    (own_course.root / "course.toml").write_text("[grading]\nagain = 0\n")  # else one in twenty, by chance
    return own_course


@pytest.fixture
def pool():
    return HerePool()


@pytest.fixture
def returned():
    return []


@pytest.fixture
def service(course, pool, returned):
    """A service over the course that only notes what it would return; call it for another, as after a restart."""

    def give_back(root, assignment, students):
        for student in students:
            returned.append(student)
            yield student, ""

    def make(back=give_back, **options):
        asked = command.ServeOptions((course.root,), once=True, **options)
        return command.GradingService(asked, pool, back, Console(quiet=True), Interrupt())

    (course.root / "exchange/tfkit/inbound").mkdir(parents=True)
    return make


def test_what_arrives_is_graded_once_and_goes_back(course, pool, service, returned):
    submit(course, "ada"), submit(course, "ben", wrong(course))
    assert service().run() == 0
    assert course.grades("ada") == FULL and course.grades("ben")[IDS[0]] == (0, False)
    assert sorted(pool.sent) == sorted(returned) == ["ada", "ben"]
    running = service()  # after a restart nothing is done twice
    assert running.run() == 0 and len(pool.sent) == len(returned) == 2
    submit(course, "ben", when="2026-11-02 10:00:00.000000 UTC")  # handed in again
    submit(course, "cleo")
    assert running.run() == 0 and course.grades("ben") == FULL and course.grades("cleo") == FULL
    assert Counter(pool.sent) == Counter(returned) == {"ada": 1, "ben": 2, "cleo": 1}
    assert running.status()["courses"]["tfkit"][UNIT] == {
        "waiting": 0, "graded": 2, "returned": 2, "failures": {}, "differences": []
    }  # fmt: skip


def test_a_verdict_that_is_another_when_graded_again_is_shown(course, pool, service, monkeypatch):
    grade = pool.grade

    def differently(work):
        for done in grade(work):
            if pool.sent.count(done.key.student) > 1:
                done.record.verdicts[0]["score"] = 0.0
            yield done

    (course.root / "course.toml").write_text("[grading]\nagain = 1\n")
    monkeypatch.setattr(pool, "grade", differently)
    submit(course, "ada")
    running = service()
    assert running.run() == 2 and course.grades("ada") == FULL
    counts = running.status()["courses"]["tfkit"][UNIT]
    assert counts["failures"] == {} and len(counts["differences"]) == 1
    assert counts["differences"][0].startswith(f"ada · {UNIT} · {IDS[0]}: 2 → 0")
    assert f"again</h3><ul><li>{counts['differences'][0]}</ul>" in status.page(running.status())


def test_what_cannot_be_collected_is_a_failure_and_is_tried_again(course, pool, service):
    submit(course, "ada")
    large = submit(course, "ben") / "large"
    with large.open("wb") as file:
        file.truncate(200 << 20)  # the limit is 100 MB
    running = service()
    assert running.run() == 2 and pool.sent == ["ada"]
    assert running.status()["courses"]["tfkit"][UNIT]["failures"] == {"ben": "not collected; tried again"}
    large.unlink()
    submit(course, "cleo")
    assert running.run() == 2 and pool.sent == ["ada", "cleo"]  # ben's is not due yet
    (served_course,) = running.courses
    served_course._retry[UNIT] = 0.0
    assert running.run() == 0 and course.grades("ben") == FULL
    assert running.status()["courses"]["tfkit"][UNIT]["failures"] == {}


def test_odd_files_of_some_cost_nobody_else_a_grade_or_the_feedback(course, pool, service):
    def back(root, assignment, students):
        for student in students:
            try:
                give_feedback(root, assignment, student)
            except FeedbackError as error:
                yield student, str(error)
            else:
                yield student, ""

    (submit(course, "ada") / "timestamp.txt").write_text("yesterday, about noon")
    (submit(course, "ben") / "submission_secret.txt").write_bytes(b"\xff\xfe")
    folder = submit(course, "cleo")
    (folder / f"{UNIT}.ipynb").rename(folder / "mine.ipynb")
    os.mkfifo(submit(course, "dora", when="soon") / "pipe")
    submit(course, "zoe")
    running = service(back)
    assert running.run() == 2 and running.error == ""
    assert sorted(pool.sent) == ["ada", "ben", "cleo", "dora", "zoe"]
    for student in ("ada", "ben", "dora", "zoe"):
        assert course.grades(student) == FULL
    assert course.grades("cleo") == {exercise: (0.0, True) for exercise in IDS}
    (counts,) = running.status()["courses"]["tfkit"].values()
    assert list(counts["failures"]) == ["ben"] and counts["returned"] == 4
    assert page(course, "zoe").is_file()


def test_the_page_is_where_the_student_finds_it(course, service):
    def back(root, assignment, students):
        for student in students:
            give_feedback(root, assignment, student)
            yield student, ""

    submit(course, "ada", wrong(course))
    assert service(back).run() == 0
    assert "Your scores are divided by d." in page(course, "ada").read_text()
    with pytest.raises(FeedbackError, match="nobody"):
        give_feedback(course.root, UNIT, "nobody")


def test_the_answer_to_a_regrade_request_is_on_the_page_that_the_student_fetches(course, service):
    """Two requests through the exchange, which collecting and grading pass by; one is accepted and one declined."""

    def back(root, assignment, students):
        for student in students:
            give_feedback(root, assignment, student)
            yield student, ""

    def ask(exercise):
        cell = f"check-{exercise.replace('.', '-')}"
        folder = course.root / "exchange/tfkit/inbound" / f"ada+{UNIT}.regrade+2026-11-03 10:00:00 UTC+{cell}"
        folder.mkdir()
        (folder / "request.json").write_text(json.dumps({"notebook": UNIT, "cell": cell, "reason": "It is right."}))

    submit(course, "ada", wrong(course))
    ask(IDS[0]), ask(IDS[1])
    assert service(back).run() == 0 and course.grades("ada")[IDS[0]] == (0, False)
    first, second = regrades.list_requests(course.root)
    version = first["answer"]["version"]
    done = regrades.accept(course.root, first["id"], version, 1.5, "Half of it <b>is</b> right.", [], "eve")
    assert (done["done"], done["feedback"]) == (["ada"], "")
    regrades.decline(course.root, second["id"], second["answer"]["version"], "It has all its points.", "eve")
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "tfkit") as gradebook:
        assert gradebook.find_submission(UNIT, "ada").score == 1.5 + 2 * POINTS
    shown = page(course, "ada").read_text()
    assert "Half of it" in shown and "Your request was declined: It has all its points." in shown


def test_a_submission_that_is_still_being_copied_waits(course, pool, service):
    folder = submit(course, "ada", wrong(course), whole=False)
    running = service()
    assert running.run() == 0 and pool.sent == []
    (folder / f"{UNIT}.ipynb").write_text(nbformat.writes(course.released()))
    (folder / "timestamp.txt").write_text("2026-11-01 10:00:00.000000 UTC")
    assert running.run() == 0 and course.grades("ada") == FULL


def test_what_stops_between_two_steps_goes_on_after_a_restart(course, pool, service, returned, monkeypatch):
    submit(course, "ada"), submit(course, "ben")

    def stop(root, assignment, students):
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):  # graded, not returned
        service(stop).run()
    assert service().run() == 0 and sorted(returned) == ["ada", "ben"] and len(pool.sent) == 2
    submit(course, "cleo")
    commit = Records.mark_committed
    monkeypatch.setattr(Records, "mark_committed", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):  # in the gradebook, and not noted
        service().run()
    monkeypatch.setattr(Records, "mark_committed", commit)
    assert service().run() == 0 and returned.count("cleo") == 1 and pool.sent.count("cleo") == 1
    assert course.grades("cleo") == FULL


def test_who_cannot_be_graded_is_tried_again_and_keeps_nobody_waiting(course, pool, service, monkeypatch):
    monkeypatch.setattr(served, "RETRY_S", 0.0)
    submit(course, "ada"), submit(course, "ben")
    pool.dying = {"ada"}
    running = service()
    running.step()
    assert course.grades("ben") == FULL and set(running.status()["courses"]["tfkit"][UNIT]["failures"]) == {"ada"}
    pool.dying = set()
    assert running.run() == 0 and course.grades("ada") == FULL


def test_a_time_that_a_student_sets_neither_jumps_the_queue_nor_hides_a_new_version(course, pool, service):
    submit(course, "ben")
    running = service()
    running.step()
    running.courses[0].batch = 1
    submit(course, "cleo"), submit(course, "dora")
    running.step()  # one is graded, one waits
    early = submit(course, "ada")
    os.utime(early, (10**9, 10**9))
    assert running.run() == 0 and sorted(pool.sent) == ["ada", "ben", "cleo", "dora"] and pool.sent[-1] == "ada"
    again = submit(course, "ada", wrong(course), when="2026-11-02 10:00:00.000000 UTC")
    os.utime(again, (10**9, 10**9))
    assert running.run() == 0 and pool.sent[4:] == ["ada"] and course.grades("ada")[IDS[0]] == (0, False)


def test_an_instructor_who_grades_goes_first(course, pool, service):
    submit(course, "ada")
    running = service()
    with Records(course.root):
        assert not running.step() and pool.sent == []
    assert running.run() == 0 and pool.sent == ["ada"]


@pytest.fixture
def platform(monkeypatch):
    """An LMS that refuses while `down`; `sent` has an entry for each attempt."""
    lti = pytest.importorskip("autograder.report.lti", reason="PyLTI1p3 is not installed: pip install PyLTI1p3")
    there = SimpleNamespace(down=False, sent=[])

    def send(root, scores):
        there.sent.append([row.student for row in scores.rows if row.total is not None])
        if there.down:
            raise ExportError("the LMS refused: 503")
        return lti.SendReport(sent=there.sent[-1])

    monkeypatch.setattr(lti, "send", send)
    return there


def test_totals_that_the_lms_did_not_take_are_sent_by_the_next_start(course, service, platform):
    submit(course, "ada")
    platform.down = True
    failing = service(passback=True)
    assert failing.run() == 2 and platform.sent == [["ada"]]
    assert failing.run() == 2 and len(platform.sent) == 1  # it is tried again after a minute
    platform.down = False
    assert service(passback=True).run() == 0 and platform.sent == [["ada"]] * 2


def test_totals_are_sent_at_the_start_and_after_new_grades_only(course, service, platform):
    running = service(passback=True)
    assert running.run() == 0 and platform.sent == []  # nothing is graded, which is no error
    submit(course, "ada")
    assert running.run() == running.run() == 0 and platform.sent == [["ada"]]


def test_an_assignment_must_exist(service):
    running = service(assignments=("none",))
    assert running.run() == 2 and "has no assignment none; available: 02-masks" in running.status()["error"]


def test_a_course_that_is_not_there_is_waited_for_and_keeps_no_other_waiting(course, pool, service, tmp_path):
    """It is made later; the log has one line for each reason, and one when the course is there."""
    out, late = io.StringIO(), tmp_path / "late"
    options = command.ServeOptions((late, course.root), once=True)
    running = command.GradingService(options, pool, give_nothing, Console(file=out, width=1000), Interrupt())
    submit(course, "ada")
    assert running.run() == 2 and pool.sent == ["ada"]  # with --once, a course that is missing is a failure
    waiting = running.status()["waiting"]
    assert list(waiting) == [str(late)] and "has no nbgrader_config.py: run `python -m" in waiting[str(late)]
    assert running.step() is False and out.getvalue().count("waiting for a course") == 1
    config.install(late)
    (late / "nbgrader_config.py").write_text(
        (late / "nbgrader_config.py").read_text() + "\nc.CourseDirectory.course_id = 'late'"
    )
    assert (
        running.run() == 0
        and running.status()["waiting"] == {}
        and set(running.status()["courses"])
        == {
            "tfkit",
            "late",
        }
    )
    assert f"the course {late} is there" in out.getvalue()
    assert not (late / "gradebook.db").exists()  # the course's build makes it


def test_a_course_whose_name_another_has_is_not_served(course, pool, tmp_path):
    shutil.copytree(course.root, tmp_path / "copy", ignore=shutil.ignore_patterns("exchange"))
    options = command.ServeOptions((course.root, tmp_path / "copy"), once=True)
    running = command.GradingService(options, pool, give_nothing, Console(quiet=True), Interrupt())
    assert running.run() == 2 and len(running.courses) == 1
    (reason,) = running.status()["waiting"].values()
    assert reason.startswith(f"two of these courses are called tfkit in the exchange: give {tmp_path / 'copy'} another")


def give_nothing(root, assignment, students):
    yield from ((student, "") for student in students)


def test_the_hub_shows_counts_to_those_who_may_see_them(monkeypatch):
    pytest.importorskip("jupyterhub", reason="JupyterHub is not installed: pip install jupyterhub")
    from tornado.testing import AsyncHTTPTestCase

    found = {
        "error": "",
        "starting": False,
        "waiting": {},
        "courses": {
            "a<b": {UNIT: {"waiting": 3, "graded": 2, "returned": 1, "failures": {"x": "y"}, "differences": []}}
        },
    }
    assert "a&lt;b" in status.page(found) and "<td>3<td>2<td>1<td>1" in status.page(found)
    assert "<b>x</b>: y" in status.page(found) and "Grading has stopped" not in status.page(found)
    assert "Grading has stopped: &lt;no" in status.page(found | {"error": "<no"})
    assert 'class="scroll" role="group" aria-label=' in status.page(found)  # or the keyboard cannot scroll it
    assert "Nothing has been submitted yet." in status.page(found | {"courses": {"a": {}}})
    assert "Waiting for a course: &lt;a> is" in status.page(found | {"waiting": {"a": "<a> is"}}).replace("&gt;", ">")
    begun = command.ShownStatus()
    assert "The service is starting." in status.page(begun.status()) and "Nothing" not in status.page(begun.status())
    assert "<script>" in status.page(found) and 'http-equiv="refresh"' not in status.page(found)  # that loses focus
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "t")
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/services/grader/")
    monkeypatch.setenv("JUPYTERHUB_CLIENT_ID", "service-grader")

    class Case(AsyncHTTPTestCase):
        def get_app(self):
            return status.application(lambda: found, "/services/grader/", b"s" * 32)

        def runTest(self):
            assert self.fetch("/services/grader/health").body == b"ok\n"
            refused = self.fetch("/services/grader/?json", follow_redirects=False)
            assert refused.code == 302 and "/hub/api/oauth2/authorize" in refused.headers["Location"]
            found["waiting"] = {"b": "it is not there"}
            assert self.fetch("/services/grader/health").body == b"waiting\n"
            found["error"] = "broken"
            assert self.fetch("/services/grader/health").code == 503

    Case().debug()


@pytest.mark.slow
def test_a_service_that_is_killed_loses_nothing(tmp_path):
    """Real workers and real pages; SIGKILL while the class is graded, SIGTERM at the end."""
    course = make(tmp_path)
    students = [f"s{n}" for n in range(6)]
    for student in students:
        nb = course.released()
        find(nb, f"solution-{IDS[0].replace('.', '-')}").source = f"# right\n# sleep 1\n# {student}"
        submit(course, student, nb)
    words = [sys.executable, "-m", "autograder", "serve", str(course.root), "--workers", "1", "--every", "0.5"]
    start = SimpleNamespace(env=os.environ | ENV, cwd=course.root)
    first = subprocess.Popen(words, env=start.env, cwd=start.cwd)
    end = time.monotonic() + 300
    while len(course.records()) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert 2 <= len(course.records()) < 6
    second = subprocess.Popen(words, env=start.env, cwd=start.cwd)
    while not all(page(course, student).exists() for student in students) and time.monotonic() < end:
        time.sleep(0.1)
    second.send_signal(signal.SIGTERM)
    assert second.wait(60) == 0
    assert all(course.grades(student) == FULL and page(course, student).exists() for student in students)
    assert Counter(course.records()) == dict.fromkeys(students, 1)
