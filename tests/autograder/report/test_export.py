"""`autograder export`: what the gradebook holds comes out whole, in each system's own form, and runs nowhere."""

import csv
import errno
import io
import json
import re
from types import SimpleNamespace

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.cluster.scores import Question, Scores, StudentScores
from autograder.nbgrader.config import install
from autograder.report import export

NAME = "03-heads"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Two questions; one student late, one whose names are formulas and commas, one with nothing handed in, and one of
    whose questions a person must mark yet."""
    root = tmp_path_factory.mktemp("course")
    install(root)
    with (root / "nbgrader_config.py").open("a") as file:
        file.write("c.LatePolicy.penalty_per_day = 1 / 6\n")
        file.write(f'c.LatePolicy.extensions = {{"{NAME}": {{"evil": 48, "half": 48}}}}\n')
    book = Gradebook(f"sqlite:///{root / 'gradebook.db'}", "tfkit")
    with book as gradebook:
        gradebook.add_assignment(NAME, duedate="2026-01-31 10:00:00 UTC")
        gradebook.add_assignment("04-untouched")
        gradebook.add_notebook("unit", NAME)
        for cell, points in (("attend", 2), ("mask", 3)):
            gradebook.add_grade_cell(cell, "unit", NAME, max_score=points, cell_type="code")
        gradebook.add_student("ada", first_name="Ada", last_name='King, "Lady"', email="ada@example.org")
        gradebook.add_student("evil", first_name="@SUM(1)", last_name="=1+1", email="-x@example.org")
        gradebook.add_student("nobody")
        gradebook.add_student("half")
        for student, got in (("ada", (2, 1)), ("evil", (0, 3)), ("half", (2, None))):
            gradebook.add_submission(NAME, student, timestamp="2026-02-01 10:00:00 UTC")
            for cell, score in zip(("attend", "mask"), got, strict=True):
                grade = gradebook.find_grade(cell, "unit", NAME, student)
                grade.auto_score, grade.needs_manual_grade = score, score is None
        gradebook.find_submission_notebook("unit", NAME, "ada").late_submission_penalty = 2.75  # of an earlier policy
        gradebook.db.commit()
    return root


QUOTED = {  # what is in the gradebook → what a reader of the file gets
    'King, "Lady"': 'King, "Lady"',
    "two\nlines\r\nand a third": "two\nlines\r\nand a third",
    "Smith-Jones @ home; -": "Smith-Jones @ home; -",
    "-5": "'-5",
    "+1": "'+1",
    "\t=1": "'\t'=1",
    "\n=1": "'\n'=1",
    "\r@x": "'\r'@x",
    "a;=1+1": "a;'=1+1",
    "\uff1d1": "'\uff1d1",
    'a"\n=1': "a\"\n'=1",
}


@pytest.mark.parametrize("to", [export.plain, export.canvas, export.moodle])
def test_any_name_is_one_cell_and_no_formula(to):
    who = {"first_name": "", "email": "", "submitted": "", "points": [1.0], "penalty": 2.0}
    rows = [StudentScores(student=str(n), last_name=name, **who) for n, name in enumerate(QUOTED)]
    scores = Scores(NAME, [Question("unit", "attend", "=attend", 2.0)], rows, [])
    header, *table = csv.reader(io.StringIO(export.as_csv(to(scores, True)), newline=""))
    found = [row for row in table if "Points Possible" not in row[0]]
    assert all(len(row) == len(header) for row in found) and len(found) == len(QUOTED)
    assert all(name in row for row, name in zip(found, QUOTED.values(), strict=True))
    assert not any(re.match("[=+@]", cell) for row in [header, *found] for cell in row)
    assert all(row[-1] == "-1.0" for row in found) or to is export.plain  # a number below zero stays one


@pytest.fixture
def run(course, tmp_path, capsys):
    """Type the command: its exit code, standard error, the file it was to write."""
    (tmp_path / "there").mkdir()

    def command(to, *more, name=NAME, output="out", course=course):
        with pytest.raises(SystemExit) as end:
            main(["export", str(course), name, "--to", to, "-o", str(tmp_path / output), *more])
        out, said = capsys.readouterr()
        return SimpleNamespace(code=end.value.code, said=said, out=out, file=tmp_path / output)

    return command


def table(done):
    """The rows of the file that was written."""
    assert done.code == 0, done.said
    with done.file.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_csv_has_questions_penalty_and_total(run):
    done = run("csv", "--per-question")
    header, ada, evil, half, nobody = table(done)
    assert header[6:] == ["attend", "mask", "raw_score", "late_penalty", "score", "max_score"]
    assert ada[1:5] == ["ada", 'King, "Lady"', "Ada", "ada@example.org"]
    assert ada[5] == "2026-02-01 10:00:00+00:00"
    assert [float(cell) for cell in ada[6:]] == [2, 1, 3, 0.5, 2.5, 5]
    assert evil[2:5] == ["'=1+1", "'@SUM(1)", "'-x@example.org"]
    assert nobody[5:] == ["", "", "", "", "", "", "5.0"]
    assert half[6:] == ["2.0", "", "", "", "", "5.0"]  # what nobody has marked is no zero, and has no total
    assert done.said.splitlines() == [
        "autograder: 1 of 3 wait for manual grading in the formgrader",
        "autograder: 1 of them have no total in it: mark them, or write what is marked so far with --partial",
    ]
    assert done.out == f"wrote {done.file}\n"


@pytest.mark.parametrize(("to", "mark"), [("csv", True), ("canvas", False), ("moodle", False)])
def test_excel_gets_a_byte_order_mark_and_an_lms_none(run, to, mark):
    assert run(to).file.read_bytes().startswith(b"\xef\xbb\xbf") is mark


def test_sums_of_floats_are_rounded():
    who = {"first_name": "", "last_name": "", "email": "", "submitted": ""}
    row = StudentScores(student="ada", points=[0.1, 0.2], penalty=0.0, **who)
    scores = Scores(NAME, [Question("unit", name, name, 1.0) for name in "ab"], [row], [])
    assert export.as_csv(export.canvas(scores, False)).splitlines()[-1].endswith(",0.3")
    assert export.results(scores, row, False)["score"] == 0.3


def test_totals_of_what_is_marked_so_far_can_be_asked_for(run):
    done = run("csv", "--partial", "--per-question")
    half = table(done)[3]
    assert half[1] == "half" and half[6:] == ["2.0", "", "2.0", "0.0", "2.0", "5.0"]
    assert "--partial" not in done.said and "1 of 3 wait" in done.said


def test_a_total_does_not_hang_on_when_a_person_marked(run, course):
    """The late penalty is a share of all marks, those given by hand after the grading among them."""
    book = Gradebook(f"sqlite:///{course / 'gradebook.db'}", "tfkit")
    with book as gradebook:
        gradebook.find_grade("mask", "unit", NAME, "ada").manual_score = 2.5
        gradebook.db.commit()
    try:
        assert [float(cell) for cell in table(run("csv"))[1][6:]] == [4.5, 0.75, 3.75, 5]
    finally:
        with book as gradebook:
            gradebook.find_grade("mask", "unit", NAME, "ada").manual_score = None
            gradebook.db.commit()


def test_canvas_has_the_points_in_its_second_row(run):
    header, possible, ada, evil, half, nobody = table(run("canvas"))
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", NAME]
    assert possible[0].strip() == "Points Possible"
    assert possible[5] == "5.0"
    assert ada == ['King, "Lady", Ada', "", "", "ada", "", "2.5"]
    assert evil[0] == "'=1+1, @SUM(1)"
    assert half == ["half", "", "", "half", "", ""]
    assert nobody == ["nobody", "", "", "nobody", "", ""]


@pytest.mark.parametrize(("to", "first"), [("canvas", 5), ("moodle", 4)])
def test_columns_per_question_add_up_to_the_total(run, to, first):
    rows = table(run(to, "--per-question"))
    assert rows[0][first:] == [f"{NAME}: {title}" for title in ("attend", "mask", "late penalty")]
    ada = next(row for row in rows if "ada" in row)
    assert [float(cell) for cell in ada[first:]] == [2, 1, -0.5]


def test_moodle_finds_students_by_name_and_mail(run):
    header, ada, *_ = table(run("moodle"))
    assert header == ["First name", "Last name", "Username", "Email address", NAME]
    assert ada == ["Ada", 'King, "Lady"', "ada", "ada@example.org", "2.5"]


def test_gradescope_gets_a_file_for_each_who_handed_in(run):
    done = run("gradescope", "--per-question")
    assert sorted(file.name for file in done.file.iterdir()) == ["ada.json", "evil.json"]
    assert json.loads((done.file / "ada.json").read_text()) == {
        "score": 2.5,
        "output": f"{NAME} late penalty: 0.5",
        "tests": [{"name": "attend", "score": 2, "max_score": 2}, {"name": "mask", "score": 1, "max_score": 3}],
    }


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ({"name": "99-none"}, "no assignment '99-none'; it has: 03-heads, 04-untouched"),
        ({"name": "04-untouched"}, "nothing of 04-untouched is graded yet"),
        ({"output": "there"}, "there exists"),
        ({"output": "no/folder"}, "cannot be written: No such file"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(run, how, word):
    done = run("csv", **how)
    assert done.code == 2
    assert word in done.said
    assert done.said.count("\n") == 1


@pytest.mark.parametrize("to", ["csv", "gradescope"])
def test_a_disk_that_fills_up_leaves_nothing_behind(run, tmp_path, monkeypatch, to):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    monkeypatch.setattr("pathlib.Path.write_text", full)
    done = run(to)
    assert done.code == 2 and "out cannot be written: No space left" in done.said and done.said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_folder_that_exists_is_left_alone(run):
    done = run("gradescope", output="there")
    assert done.code == 2
    assert "there exists" in done.said
    assert not list(done.file.iterdir())


def test_a_missing_gradebook_is_not_made(run, tmp_path):
    install(tmp_path)
    done = run("csv", course=tmp_path)
    assert done.code == 2
    assert "there is no gradebook" in done.said
    assert not (tmp_path / "gradebook.db").exists()
