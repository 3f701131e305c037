"""What the stock commands make of submissions that are right, broken and forged. One run grades the whole class."""

import copy
import os
from html.parser import HTMLParser
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension

from autograder.nbgrader.feedback import SafePage, page_style

from .conftest import IDS, POINTS, UNIT, Course, find

FULL = {exercise: (POINTS, False) for exercise in IDS}
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def _answer(nb, exercise, text):
    find(nb, f"solution-{exercise.replace('.', '-')}").source = text


def _but(**changed):
    names = {exercise.replace(".", "_"): exercise for exercise in IDS}
    return FULL | {names[name]: grade for name, grade in changed.items()}


def right(nb):
    return _but()


def wrong(nb):
    _answer(nb, "masks.padding", "return 1 / d")
    return _but(masks_padding=(0.0, False))


def deleted(nb):
    nb.cells.remove(find(nb, "solution-masks-causal"))
    return _but(masks_causal=(0.0, False))


def deleted_check(nb):
    nb.cells.remove(find(nb, "check-masks-causal"))
    return _but()


def deleted_all(nb):
    nb.cells.clear()
    return {exercise: (0.0, False) for exercise in IDS}


def duplicated(nb):
    for grade_id in ("check-masks-causal", "setup-1", "solution-masks-softmax"):
        again = copy.deepcopy(find(nb, grade_id))
        again.id = f"{grade_id}-again"
        nb.cells.insert(0, again)
    return _but()


def forged(nb):
    """Every mark rewritten: points, outputs, tags, our own metadata, the solution flag on a test cell, extra keys."""
    _answer(nb, "masks.softmax", "print(2.0)")
    check = find(nb, "check-masks-softmax")
    check.source = "2.0"
    check.outputs = [new_output("execute_result", data={"text/plain": "2.0"}, execution_count=1)]
    check.metadata["tags"] = ["skip-execution"]
    check.metadata["tfkit"] = {"role": "demo", "verdict": {"status": "passed", "score": 100, "max_score": 1}}
    check.metadata.nbgrader |= {"points": 1000.0, "solution": True, "locked": False, "extra": 1}
    nb.metadata["tfkit"] = {"unreadable": "<script>alert(3)</script>"}
    find(nb, "setup-1").source = "import torch; torch.allclose = lambda *a: True"
    find(nb, "solution-masks-padding").metadata.nbgrader["grade_id"] = ["not", "a", "string"]
    return _but(masks_softmax=(0.0, False), masks_padding=(0.0, False))


def ours(nb):
    _answer(nb, "masks.causal", "# ours")
    return _but(masks_causal=(0.0, True))


def grader_breaks(nb):
    _answer(nb, "masks.padding", "# raise")
    return {exercise: (0.0, True) for exercise in IDS}


def scripts(nb):
    nb.cells.append(new_markdown_cell(f"> quoted, $x<y$ {SCRIPT}"))
    data = {"text/html": SCRIPT + "<b>bold</b>", "application/javascript": "alert(4)", "text/plain": "x"}
    figure = {"text/html": "<figure>static</figure>", "application/vnd.tfkit.trace.v1+json": {"trace": {}}}
    demo = next(cell for cell in nb.cells if cell.metadata.get("tfkit", {}).get("role") == "demo")
    demo.outputs = [new_output("display_data", data=data), new_output("display_data", data=figure)]
    nb.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"x": "</script><script>alert(5)"}}
    return _but()


def long_texts(nb):
    """Each would keep nbconvert busy for minutes or hours, or fill the memory with one picture."""
    nb.cells += [new_markdown_cell("<pre>" * 20_000), new_code_cell("\n " * 20_000), new_markdown_cell("last words")]
    nb.cells += [new_markdown_cell("a.\n\n" * 1600) for _ in range(30)]
    often = new_markdown_cell("![](attachment:x.png)" * 400)
    often.attachments = {"x.png": {"image/png": "A" * (1 << 20)}}
    nb.cells.insert(0, often)
    demo = next(cell for cell in nb.cells if cell.metadata.get("tfkit", {}).get("role") == "demo")
    shown = "<pre>\n" * 20_000
    demo.outputs = [new_output("display_data", data={kind: shown}) for kind in ("text/html", "text/markdown")]
    return _but()


def wrong_kernel(nb):
    nb.metadata["kernelspec"] = {"name": "ir", "display_name": "R", "language": "R"}
    nb.metadata["language_info"] = {"name": "R", "file_extension": ".r"}
    return _but()


def other_assignment(nb):
    """Cells of another unit, with their marks, in a file of this one's name."""
    for cell in nb.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader["grade_id"] = "other-" + cell.metadata.nbgrader["grade_id"]
    return {exercise: (0.0, False) for exercise in IDS}


CLASS = {f.__name__: f for f in (right, wrong, deleted, deleted_check, deleted_all, duplicated, forged, ours)}
CLASS |= {f.__name__: f for f in (grader_breaks, scripts, long_texts, wrong_kernel, other_assignment)}
BROKEN = {
    "cut_off": '{"cells": [',
    "not_json": "hello",
    "a_list": "[]",
    "wrong_cells": '{"cells": [1, 2], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "nested": "[" * 100_000,
    "not_utf8": b'{"cells": [], "metadata": {"name": "\xff\xfe"}, "nbformat": 4, "nbformat_minor": 5}',
    "empty": "",
}


@pytest.fixture(scope="session")  # as the course that it is handed in to: a worker may come back to this module
def graded(course: Course):
    """The class, graded once and with feedback; student → expected grades."""
    expected = {}
    for name, deed in CLASS.items():
        nb = course.released()
        expected[name] = deed(nb)
        course.hand_in(name, nb)
    for name, text in BROKEN.items():
        course.hand_in(name, text)
        expected[name] = {exercise: (0.0, False) for exercise in IDS}
    _links(course, expected)
    log = course.nbgrader("autograde", UNIT)
    assert "SAWarning" not in log
    course.nbgrader("generate_feedback", UNIT)
    return expected, log


@pytest.fixture(scope="module")
def formgrader(course: Course):
    """The page of a student's submission as the formgrader's handler makes it, with the exporter that it sets up."""
    app, settings = FormgradeExtension(), {}
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(course.root)
        app.root_dir = str(course.root)
        app.initialize([])
        app.init_tornado_settings(SimpleNamespace(settings=settings))
    told = {"base_url": "", "notebook_path": "", "index": 0, "total": 1, "submission_id": "1", "first_name": None,
            "last_name": None, "assignment_id": UNIT, "notebook_id": UNIT}  # fmt: skip

    def page(student: str) -> str:
        path = course.root / "autograded" / student / UNIT / f"{UNIT}.ipynb"
        return settings["nbgrader_exporter"].from_filename(str(path), resources=told | {"student": student})[0]

    return page


def _links(course: Course, expected: dict) -> None:
    path = course.hand_in("linker", course.released())
    secret = course.root / "secret.txt"
    secret.write_text("the answers")
    (path.parent / "notes.txt").symlink_to(secret)
    os.mkfifo(path.parent / "pipe")
    (path.parent / "folder").symlink_to(course.root)
    expected["linker"] = FULL
    path = course.hand_in("linked_notebook", "")
    path.unlink()
    path.symlink_to(course.root / "source" / UNIT / f"{UNIT}.ipynb")
    expected["linked_notebook"] = {exercise: (0.0, False) for exercise in IDS}
    os.truncate(course.hand_in("huge", "{"), 500 << 20)  # a hole: it takes no room here
    expected["huge"] = {exercise: (0.0, False) for exercise in IDS}


@pytest.mark.parametrize("student", [*CLASS, *BROKEN, "linker", "linked_notebook", "huge"])
def test_gradebook_tells_the_truth(course, graded, student):
    assert course.grades(student) == graded[0][student]


@pytest.mark.parametrize("student", [*CLASS, *BROKEN])
def test_every_check_cell_has_one_score_that_nbgrader_reads(course, graded, student):
    from nbgrader.utils import determine_grade

    nb = course.graded(student)
    checks = [cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert len(checks) == len(IDS)
    for cell in checks:
        score, most = determine_grade(cell)
        assert most == POINTS
        if cell.metadata.tfkit.verdict["status"] != "not_graded":
            assert [output.output_type for output in cell.outputs] == ["execute_result"]
            assert score == cell.metadata.tfkit.verdict["score"]
        else:
            assert score == 0  # a stock SaveAutoGrades, put back by someone, must not read full marks


def test_links_and_pipes_stay_out(course, graded):
    for folder in ("submitted", "autograded", "feedback"):
        found = {path.name for path in (course.root / folder / "linker" / UNIT).rglob("*")}
        assert not found & {"notes.txt", "pipe", "folder"}


def test_locked_cells_are_as_released(course, graded):
    nb = course.graded("forged")
    assert find(nb, "setup-1").source == "import torch"
    assert find(nb, "check-masks-softmax").source == 'check("masks.softmax")'
    assert find(nb, "check-masks-softmax").metadata.nbgrader["points"] == POINTS
    assert not any("tags" in cell.metadata for cell in nb.cells)


class Scripts(HTMLParser):
    """Collects what a browser would run."""

    def __init__(self, page):
        super().__init__()
        self.inside, self.found = False, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.inside = tag == "script"
        for name, value in attrs:
            if name.startswith("on") or (value or "").strip().lower().startswith("javascript:"):
                self.found.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.found.append(data)


@pytest.mark.parametrize("student", [*CLASS, *BROKEN])
def test_feedback_runs_nothing(course, graded, student):
    page = course.page(student)
    assert not [text for text in Scripts(page).found if "alert" in text]
    assert "BEGIN HIDDEN" not in page


@pytest.mark.parametrize("student", [*CLASS, *BROKEN])
def test_the_formgrader_runs_nothing_of_theirs(course, graded, formgrader, student):
    """Instructors open it on the server's own address: a script there could give marks."""
    page = formgrader(student)
    own, theirs = Scripts(formgrader("right")).found, Scripts(page).found
    assert own and [part for part in theirs if "alert" in part] == []
    assert len(theirs) == len(own)
    assert ("As submitted" in page) == ("As submitted" in course.page(student))


def test_what_is_too_long_is_shown_as_plain_text(course, graded, formgrader):
    for page in (course.page("long_texts"), formgrader("long_texts")):
        assert page.count("&lt;pre&gt;") == 60_000
        assert page.count("![](attachment:x.png)") == 400 and "A" * 100 not in page
        assert "<p>last words</p>" in page
        assert 15 * 1600 < page.count("<p>a.</p>") < 25 * 1600


def test_code_is_never_highlighted_as_that_of_ipython():
    """Its rules take 18 s for 10 KB of blank lines, Python's two."""
    cells = [new_code_cell("%%html\n<b>"), new_code_cell("\n " * 20_000), new_markdown_cell("text")]
    shown, _ = SafePage().preprocess(new_notebook(cells=cells), {})
    assert [cell.metadata.get("magics_language") for cell in shown.cells] == ["python3", "text", None]


def test_feedback_keeps_prose_and_static_figures(course, graded):
    page = course.page("scripts")
    assert "<figure>static</figure>" in page
    assert "<b>bold</b>" in page
    assert "<blockquote>" in page
    assert "As submitted" in page


def test_feedback_follows_the_readers_system_and_fits_a_phone(course, graded):
    page = course.page("right")
    assert page.count('name="viewport"') == page.count(page_style()) == page.count("</head>") == 1
    assert page.index("bootstrap") < page.index(page_style()) < page.index("</head>")  # so that it changes Bootstrap's
    assert ".tfkit-verdict{--tfk-" not in page  # the verdict takes the page's tokens, which know the dark


def test_feedback_says_what_was_misunderstood(course, graded):
    assert "Your scores are divided by d." in course.page("wrong")
    assert "missing from your submission" in course.page("deleted")
    assert "could not be read" in course.page("cut_off")
    assert "it is larger than 50 MB" in course.page("huge")
    assert "missing from your submission" in course.page("other_assignment")
    assert "not your mistake" in course.page("ours")


def test_progress_names_student_and_exercise(graded):
    _, log = graded
    assert f"right · {UNIT}: ✓ masks.causal 1/1" in log
    assert f"wrong · {UNIT}: ✗ masks.padding 0/1" in log
    assert f"submitted/cut_off/{UNIT}/{UNIT}.ipynb could not be read" in log


def test_stderr_costs_nothing_and_is_shown(course, graded):
    assert "&lt;b&gt;careful" in course.page("right")


def test_a_crash_leaves_no_old_grade(course, graded):
    path = course.hand_in("later", course.released())
    course.nbgrader("autograde", UNIT, "--student=later")
    assert course.grades("later") == FULL
    nb = course.released()
    _answer(nb, "masks.causal", "# raise")
    path.write_text(nbformat.writes(nb))
    course.nbgrader("autograde", UNIT, "--student=later", "--force")
    assert course.grades("later") == {exercise: (0.0, True) for exercise in IDS}


def test_collect_does_not_follow_links(course):
    nb = nbformat.writes(course.released())
    (course.root / "secret2.txt").write_text("the answers")
    course.nbgrader("release_assignment", UNIT)
    inbound = course.root / "exchange" / "tfkit" / "inbound" / f"eve+{UNIT}+2026-01-01 10:00:00.000000 UTC"
    inbound.mkdir(parents=True)
    (inbound / f"{UNIT}.ipynb").write_text(nb)
    (inbound / "timestamp.txt").write_text("2026-01-01 10:00:00.000000 UTC")
    (inbound / "stolen.txt").symlink_to(course.root / "secret2.txt")
    course.nbgrader("collect", UNIT, "--ExchangeCollect.check_owner=False")
    assert {path.name for path in (course.root / "submitted" / "eve" / UNIT).iterdir()} == {
        f"{UNIT}.ipynb",
        "timestamp.txt",
    }


def test_feedback_is_released_to_those_who_have_it(own_course):
    own_course.hand_in("ada", own_course.released())
    for name, text in {"timestamp.txt": "2026-01-01 10:00:00.000000 UTC", "submission_secret.txt": "a"}.items():
        (own_course.root / "submitted" / "ada" / UNIT / name).write_text(text)  # as `nbgrader submit` does
    own_course.nbgrader("autograde", UNIT)
    own_course.nbgrader("generate_feedback", UNIT)
    own_course.nbgrader("release_feedback", UNIT)
    (page,) = (own_course.root / "exchange" / "tfkit" / "feedback").iterdir()
    assert page.read_text(encoding="utf-8") == own_course.page("ada")


def test_a_class_is_imported_with_its_names(own_course):
    (own_course.root / "students.csv").write_text("id,first_name,last_name,email\nada,Ada,Lovelace,ada@example.org\n")
    own_course.nbgrader("db", "student", "import", "students.csv")
    with Gradebook(f"sqlite:///{own_course.root / 'gradebook.db'}", "tfkit") as gradebook:
        ada = gradebook.find_student("ada")
        assert (ada.first_name, ada.last_name, ada.email) == ("Ada", "Lovelace", "ada@example.org")
