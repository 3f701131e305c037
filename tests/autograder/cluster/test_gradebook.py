"""`autograder grade` leaves what `nbgrader autograde` leaves: rows, files, feedback; a submission whole, or not."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import text

from autograder.cluster.course import BadCourse, Course, working_in
from autograder.cluster.gradebook import GradebookWriter
from autograder.cluster.grading_process import WrongVersion
from autograder.cluster.job import GradingRecord, grade
from autograder.sandbox import SandboxError

from .conftest import IDS, UNIT, find

TABLES = {
    "grade": "select s.id, b.name, g.auto_score, g.manual_score, g.needs_manual_grade, g.extra_credit",
    "comment": "select s.id, b.name, g.auto_comment, g.manual_comment, null, null",
}
FROM = """ from {table} g join base_cell b on b.id = g.cell_id join submitted_notebook n on n.id = g.notebook_id
join submitted_assignment a on a.id = n.assignment_id join student s on s.id = a.student_id order by 1, 2"""
SUBMITTED = """select s.id, a.timestamp, n.late_submission_penalty from submitted_notebook n
join submitted_assignment a on a.id = n.assignment_id join student s on s.id = a.student_id order by 1"""
LATE = "\nclass Fixed(LateSubmissionPlugin):\n    def late_submission_penalty(self, *a):\n        return 0.5\n"


def hand_in_all(course):
    """Right, wrong, deleted, broken, ours, late with extra files, an empty folder's worth."""
    course.hand_in("right", course.released())
    for name, word in (("wrong", "return 1 / d"), ("ours", "# ours"), ("breaks", "# raise")):
        nb = course.released()
        find(nb, "solution-masks-padding").source = word
        course.hand_in(name, nb)
    nb = course.released()
    nb.cells.remove(find(nb, "solution-masks-causal"))
    path = course.hand_in("late", nb)
    (path.parent / "timestamp.txt").write_text("2026-02-01 10:00:00 UTC")
    (path.parent / "notes.txt").write_text("mine")
    (path.parent / "given.txt").write_text("changed")
    (path.parent / "link").symlink_to(course.root / "course.key")
    course.hand_in("broken", '{"cells": [')
    path = course.hand_in("empty", course.released())
    path.rename(path.parent / "renamed.ipynb")


def prepare(course):
    """A due date that one student missed, a penalty for it, a file that comes with the assignment."""
    (course.root / "source" / UNIT / "given.txt").write_text("the course's")
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "tfkit") as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2026-01-31 10:00:00 UTC")
    config = course.root / "nbgrader_config.py"
    plugin = "from nbgrader.plugins import LateSubmissionPlugin\n" + LATE
    config.write_text(config.read_text() + plugin + "c.AssignLatePenalties.plugin_class = Fixed\n")


def rows(url):
    """All that a person could see in the gradebook, without its random ids."""
    with Gradebook(url, "tfkit") as gradebook:
        found = {name: gradebook.db.execute(text(query + FROM.format(table=name))).all()
                 for name, query in TABLES.items()}  # fmt: skip
        found["submitted"] = gradebook.db.execute(text(SUBMITTED)).all()
        found["scores"] = sorted((s.student.id, s.score, s.needs_manual_grade)
                                 for s in gradebook.assignment_submissions(UNIT))  # fmt: skip
    return {name: [tuple(row) for row in part] for name, part in found.items()}


def files(root):
    """Path → content of the graded folder; permissions too."""
    paths = [path for path in sorted((root / "autograded").rglob("*")) if path.is_file()]
    return {str(path.relative_to(root)): (path.stat().st_mode, path.read_text()) for path in paths}


def grade_here(root, url=None):
    """What the command does, in this process and without workers."""
    course = Course(root, UNIT)
    if url:
        course.coursedir.db_url = url
    with GradebookWriter(course) as writer:
        for submission in course.submissions():
            record = GradingRecord.from_bytes(grade(course.bundle(submission)))
            writer.write(record, submission.folder)
            writer.write(record, submission.folder)  # a resumed run may
    return course


def without_ids(found):
    """Ids of free cells are all that may differ, and they do not."""
    return {name: (mode, json.loads(content) if name.endswith("ipynb") else content)
            for name, (mode, content) in found.items()}  # fmt: skip


def test_it_leaves_what_nbgrader_autograde_leaves(course, tmp_path_factory):
    prepare(course)
    hand_in_all(course)
    ours = tmp_path_factory.mktemp("ours") / "course"
    shutil.copytree(course.root, ours, symlinks=True)
    course.nbgrader("autograde", UNIT, code=1)  # "empty" has no notebook of that name, which it calls an error
    grade_here(ours)
    stock, mine = (rows(f"sqlite:///{root / 'gradebook.db'}") for root in (course.root, ours))
    assert ("late", None, 0.5) not in mine["submitted"] and any(row[2] == 0.5 for row in mine["submitted"])
    keep = {name: [row for row in part if row[0] != "empty"] for name, part in mine.items()}
    assert keep == {name: [row for row in part if row[0] != "empty"] for name, part in stock.items()}
    assert ("empty", 0.0, True) in [(row[0], float(row[1]), bool(row[2])) for row in mine["scores"]]
    not_empty = {name: content for name, content in without_ids(files(ours)).items() if "/empty/" not in name}
    assert not_empty == without_ids(files(course.root))
    assert files(ours)[f"autograded/late/{UNIT}/given.txt"][1] == "the course's"
    assert not list((ours / "autograded").rglob("link"))


def test_an_error_takes_the_whole_submission_back(course, monkeypatch):
    course.hand_in("ada", course.released())
    opened = Course(course.root, UNIT)
    submission = opened.submissions()[0]
    record = GradingRecord.from_bytes(grade(opened.bundle(submission)))
    url = f"sqlite:///{course.root / 'gradebook.db'}"
    with GradebookWriter(opened) as writer:
        monkeypatch.setattr(writer, "_penalty", lambda notebook: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            writer.write(record, submission.folder)
        assert rows(url) == {"grade": [], "comment": [], "submitted": [], "scores": []}
        monkeypatch.undo()
        writer.write(record, submission.folder)
    assert [row[2] for row in rows(url)["grade"]] == [2.0, 2.0, 2.0]


def test_a_worker_with_other_checks_refuses(course, monkeypatch):
    course.hand_in("ada", course.released())
    opened = Course(course.root, UNIT)
    data = opened.bundle(opened.submissions()[0])
    monkeypatch.setattr("autograder.cluster.bundle._code_hash", lambda cells: "other")
    with pytest.raises(WrongVersion, match="a different version"):
        grade(data)


def test_a_step_of_the_courses_own_is_refused_not_left_out(course):
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write('\nc.Autograde.autograde_preprocessors = ["nbgrader.preprocessors.Execute"]\n')
    with pytest.raises(BadCourse, match="autograde_preprocessors is Execute"):
        Course(course.root, UNIT)


@pytest.mark.parametrize(("assignment", "words"), [("09-none", "it has: 02-masks"), (UNIT, "no submissions in")])
def test_what_cannot_be_graded_is_said_in_a_line(course, assignment, words):
    with pytest.raises(BadCourse, match=words):
        Course(course.root, assignment).submissions()


# -- PostgreSQL --------------------------------------------------------------------------------------------------------


def _server():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [Path(p) for p in [shutil.which("initdb")] if p]
    return found[-1].parent if found else None


@pytest.fixture
def postgres():
    """The URL of an empty database of a server of our own."""
    if _server() is None:
        pytest.skip("no PostgreSQL here: apt-get install postgresql")
    pytest.importorskip("psycopg", reason="no driver for PostgreSQL here: pip install 'psycopg[binary]'")
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        become = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
        os.chmod(folder, 0o777)
        call = lambda *words: subprocess.run([*become, *words], check=True, capture_output=True, cwd=folder)
        data, options = f"{folder}/data", f"-c listen_addresses='' -k {folder}"
        call(str(_server() / "initdb"), "-D", data, "-U", "tfkit", "--auth=trust")
        call(str(_server() / "pg_ctl"), "-D", data, "-w", "-o", options, "-l", f"{folder}/log", "start")
        try:
            call(str(_server() / "createdb"), "-h", folder, "-U", "tfkit", "grades")
            yield f"postgresql+psycopg://tfkit@/grades?host={folder}"
        finally:
            call(str(_server() / "pg_ctl"), "-D", data, "-m", "immediate", "stop")


def test_the_same_grades_in_postgresql(course, postgres):
    course.hand_in("right", course.released())
    nb = course.released()
    find(nb, "solution-masks-padding").source = "return 1 / d"
    course.hand_in("wrong", nb)
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.CourseDirectory.db_url = {postgres!r}\n")
    course.nbgrader("generate_assignment", UNIT, "--force")
    with working_in(course.root):
        grade_here(course.root)
    found = rows(postgres)
    assert [row[0] for row in found["scores"]] == ["right", "wrong"]
    assert [float(row[1]) for row in found["scores"]] == [2.0 * len(IDS), 2.0 * (len(IDS) - 1)]
    course.nbgrader("generate_feedback", UNIT)
    assert "masks.padding" in course.page("wrong")


def test_a_worker_without_the_box_that_the_course_chose_grades_nothing(course):
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write('\nc.BoxedExecute.sandbox = "no-such-box"\n')
    course.hand_in("ada", course.released())
    here = Course(course.root, UNIT)
    (submission,) = here.submissions()
    with pytest.raises(SandboxError, match="there is no sandbox 'no-such-box'"):
        grade(here.bundle(submission))
