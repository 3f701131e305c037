"""Each student's own contracts: in the notebook that is made for them, and in the grade of whoever hands in."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from autograder.cluster import course as cluster
from autograder.cluster.job import GradingRecord, grade
from autograder.exercises import contracts, registry
from autograder.maintenance import forget
from autograder.nbgrader import config
from autograder.settings import points
from course import build, personal
from course.release import generate
from course.settings import LessonError, read

UNIT, ID = "02-masks", "masks.causal"
TOP = 'language = "fr"\nvariants = "2026"\nvariants_for = "student"\n'
COURSE = f'{TOP}[[unit]]\nname = "{UNIT}"\nexercises = ["{ID}"]\nquestions = 2\n[grading]\ncredit = "checks"\n'
CAUSAL = "import torch\n\ndef causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool).tril()\n"
NAMES = [f"student{number}" for number in range(20)]
DRAWN = {name: contracts.draw_contract(registry.find(ID), contracts.group_of("2026", name)) for name in NAMES}
HIDDEN, USUAL = (next(name for name, drawn in DRAWN.items() if drawn == which) for which in ("hidden", ""))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with the notebooks of two students."""
    root = tmp_path_factory.mktemp("personal")
    (root / "course.toml").write_text(COURSE)
    config.install(root)
    build.build(root)
    generate(root, UNIT)
    assert personal.main([str(root), "--student", HIDDEN, "--student", USUAL]) == 0
    return root


def cells(path: Path) -> dict[str, nbformat.NotebookNode]:
    return {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}


def own(root: Path, student: str) -> Path:
    return root / "personal" / student / UNIT / f"{UNIT}.ipynb"


def test_everybodys_notebook_names_no_contract_and_says_whose_it_is_not(root):
    released = cells(root / "release" / UNIT / f"{UNIT}.ipynb")
    assert released["not-yours"].source.startswith("**Ceci n’est pas votre exemplaire.**")
    assert released["check-masks-causal"].source.endswith(f'check("{ID}")')
    assert not any(name.startswith(("contract-", "course-form-")) for name in released)


def test_a_students_notebook_has_their_form_in_statement_stub_check_and_questions(root):
    made = cells(own(root, HIDDEN))
    assert "not-yours" not in made and "**Votre contrat.**" in made["contract-masks-causal"].source
    stub = made["solution-masks-causal"].source
    assert "Your contract: In the mask that you return, True hides" in stub
    assert "raise NotImplementedError" in stub and "BEGIN SOLUTION" not in stub and "torch.ones" not in stub
    assert made["check-masks-causal"].source.endswith(f'check("{ID}@hidden")')
    assert made["ask-masks-causal"].source.endswith(f'ask("{ID}@hidden")')
    assert made["course-form-masks-causal"].source.startswith(contracts.HEAD)
    usual = cells(own(root, USUAL))
    assert usual["check-masks-causal"].source.endswith(f'check("{ID}")') and "not-yours" not in usual
    assert own(root, HIDDEN).with_name("AGENTS.md").exists()
    assert "/personal/" in (root / config.IGNORE).read_text().splitlines()


def test_forgetting_a_student_finds_their_notebooks(root):
    assert own(root, HIDDEN).parents[1] in forget.find(root, HIDDEN, {}).paths


def test_hunts_are_in_the_students_form(root):
    (hunted,) = (cell.source for name, cell in cells(own(root, HIDDEN)).items() if name == "hunt")
    (usual,) = (cell.source for name, cell in cells(own(root, USUAL)).items() if name == "hunt")
    subject = next(one for one in registry.exercises() if f'"{one.id}' in usual)
    drawn = contracts.draw_contract(subject, contracts.group_of("2026", HIDDEN))
    assert (f"{subject.id}@{drawn}" in hunted) == bool(drawn)


def test_an_answer_is_graded_in_the_form_of_who_hands_it_in(root, monkeypatch):
    """What the notebook's own check cell says is not believed: a student could hand in everybody's."""
    inverted = CAUSAL.replace("torch.ones", "~torch.ones")
    handed_in = {HIDDEN: (HIDDEN, inverted), USUAL: (USUAL, CAUSAL)}
    other = next(name for name, drawn in DRAWN.items() if drawn == "hidden" and name != HIDDEN)
    handed_in[other] = USUAL, CAUSAL
    for student, (copy, answer) in handed_in.items():
        nb = nbformat.read(own(root, copy), as_version=4)
        next(cell for cell in nb.cells if cell.id == "solution-masks-causal").source = answer
        path = root / "submitted" / student / UNIT / f"{UNIT}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(nb, path)
    monkeypatch.chdir(root)
    opened = cluster.Course(root, UNIT)
    records = [GradingRecord.from_bytes(grade(opened.bundle(one))) for one in opened.submissions()]
    found = {(record.key.student, one["exercise"]): one for record in records for one in record.verdicts}
    scores = {student: found[student, ID]["score"] for student in handed_in}
    assert scores == {HIDDEN: 1.0, USUAL: 1.0, other: 0.0}
    assert "True hides a key" in str(found[other, ID]["remarks"])
    assert "not answered" in found[HIDDEN, "questions"]["checks"][0]["message"]
    assert f'ask("{ID}@hidden")' in found[HIDDEN, "questions"]["checks"][0]["message"]


@pytest.mark.parametrize(
    ("text", "students", "said"),
    [
        (COURSE, (), "the gradebook has no students"),
        (COURSE, ("a/b",), "'a/b' cannot be the id of a student"),
        (COURSE.replace(TOP, 'variants = "2026"\n'), ("ada",), "draws no contracts for each student"),
        (COURSE.replace('variants = "2026"\n', ""), ("ada",), 'needs a text to draw by: write variants = "2026"'),
    ],
)
def test_what_is_missing_is_said(tmp_path, text, students, said):
    config.install(tmp_path)
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(LessonError) as error:
        personal.write(tmp_path, [UNIT], students)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_configuration_that_would_grade_everybody_alike_is_refused(tmp_path, capsys):
    config.install(tmp_path)
    (tmp_path / "course.toml").write_text(COURSE)
    path = tmp_path / config.CONFIG
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(personal.SETTING)))
    with pytest.raises(SystemExit):
        personal.main([str(tmp_path), "--student", "ada"])
    assert personal.SETTING in capsys.readouterr().err


def test_a_setting_that_cannot_be_read_grades_nobody(tmp_path):
    path = tmp_path / points.FILE
    path.write_text(COURSE.replace('"student"', '"everybody"'))
    with pytest.raises(points.BadContracts, match='must be "group" or "student"'):
        points.check_contracts(points.contracts_setting(path), personal.SETTING)
    with pytest.raises(points.BadContracts, match="must be a text"):
        points.check_contracts(3, personal.SETTING)
    with pytest.raises(LessonError, match="variants_for"):
        read(tmp_path)
