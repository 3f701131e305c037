"""The course as a JupyterLite site, and the way back of what is handed in from it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from importlib import metadata

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import parse_utc
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.cluster.course import settings_of
from autograder.exercises import registry
from autograder.exercises.answers import answer
from autograder.nbgrader import config
from course import build as builder
from course import units
from course.lite import site, wheels
from course.notebook import source_notebook
from course.release import generate
from course.settings import LessonError

UNIT = "02-masks"


@pytest.fixture(scope="module")
def course_dir(tmp_path_factory):
    root = tmp_path_factory.mktemp("course").resolve()
    config.install(root)
    builder.build(root, [UNIT])
    generate(root, UNIT)
    return root


@pytest.fixture
def released(course_dir):
    return course_dir / "release" / UNIT / f"{UNIT}.ipynb"


def test_the_notebook_begins_with_the_cell_that_installs_and_stays_nbgraders(released):
    before = nbformat.read(released, as_version=4)
    made = site.in_tab(nbformat.read(released, as_version=4), partial=True)
    about, start = made.cells[1:3]
    assert about.id == site.ABOUT and "its verdict is for practice and not a grade" in about.source
    assert start.id == site.START and 'sys.platform == "emscripten"' in start.source
    assert [cell for cell in made.cells if cell.id not in (site.ABOUT, site.START)] == before.cells


def test_a_french_notebook_is_told_in_french_what_differs_in_a_tab(released):
    notebook = nbformat.read(released, as_version=4)
    notebook.metadata.tfkit["language"] = "fr"
    assert site.in_tab(notebook, partial=True).cells[1].source.startswith("> **Dans cet onglet.**")


def test_no_cell_of_a_notebook_in_a_tab_says_that_a_check_runs_in_a_box():
    for folder in units():
        for cell in source_notebook(folder).cells:
            about_checks = [line for line in cell.source.splitlines() if re.search(r"\bcheck\(|\*\*Check\*\*", line)]
            assert not [line for line in about_checks if re.search(r"\b(box|sandbox)\b", line)], (folder.name, cell.id)


def test_an_exercise_that_needs_the_lab_says_so_above_its_cell(released, monkeypatch):
    monkeypatch.setattr(site, "needs_lab", lambda: {"masks.causal": "it has no masks"})
    made = site.in_tab(nbformat.read(released, as_version=4), partial=True)
    places = {cell.id: place for place, cell in enumerate(made.cells)}
    note = made.cells[places["needs-lab-masks-causal"]]
    assert "needs the full lab" in note.source and "it has no masks" in note.source
    assert places["needs-lab-masks-causal"] + 1 == places["solution-masks-causal"]
    whole = site.in_tab(nbformat.read(released, as_version=4), partial=False)
    assert not [cell for cell in whole.cells if cell.id.startswith("needs-lab")]


def test_a_wheel_of_ours_holds_the_course_and_is_the_same_each_time(tmp_path):
    name, members = wheels.project_wheel()
    first, second = (wheels.write_wheel(tmp_path / place, name, members) for place in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as packed:
        names = packed.namelist()
        info = name.removesuffix("-py3-none-any.whl") + ".dist-info"
        record = packed.read(f"{info}/RECORD").decode().splitlines()
        assert "autograder.exercises" in packed.read(f"{info}/entry_points.txt").decode()
        assert Parser().parsestr(packed.read(f"{info}/METADATA").decode())["Name"] == "tfkit-course"
    assert {line.partition(",")[0] for line in record} == set(names)
    assert {"course/units/02-masks/checks.py", "tfkit/nn/masks.py", "tfkit_lab/static/decoding.js"} <= set(names)
    assert "course/units/02-masks/submissions/masks.causal/wrong.toml" in names  # by which mistakes are named


def test_what_the_packages_of_a_tab_require_is_there_too():
    brought = {*site.PURE, "pyborch", *site.FROM_PYODIDE}
    kernel = {"ipython", "traitlets", "widgetsnbextension"}  # every JupyterLite has them
    for name in (*site.PURE, "pyborch"):
        asked = [Requirement(line) for line in metadata.requires(name) or []]
        needed = {canonicalize_name(one.name) for one in asked if not one.marker or one.marker.evaluate({"extra": ""})}
        assert needed <= {canonicalize_name(one) for one in brought | kernel}, name


def test_what_mypyc_compiled_goes_into_a_tab_as_source(tmp_path):
    _, members = wheels.distribution("psygnal")
    names = {name for name, _ in members}
    assert "psygnal/_signal.py" in names and not [name for name in names if name.endswith((".so", ".pyd"))]


def test_the_wheel_of_the_browsers_torch_is_called_torch_and_is_no_release_of_it():
    name, members = wheels.browser_torch_wheel()
    assert name.startswith("torch-0+pyborch.") and {"torch/__init__.py"} <= {path for path, _ in members}


def test_what_is_missing_is_told_before_anything_is_written(tmp_path, released):
    for how, said in [
        ({"wheels": tmp_path}, "holds no wheel"),
        ({"pyodide": tmp_path}, "lacks pyodide.mjs"),
    ]:
        with pytest.raises(LessonError, match=said):
            site.write_site(tmp_path / "site", [released], **how)
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(LessonError, match="holds other files"):
        site.write_site(tmp_path, [released])
    assert not (tmp_path / "site").exists()
    with pytest.raises(LessonError, match="not installed"):
        wheels.distribution("no-such-distribution")
    with pytest.raises(LessonError, match="compiled for this machine"):
        wheels.distribution("numpy")


def test_the_courses_configuration_reads_the_name_of_a_file_from_the_tab(course_dir):
    pattern = settings_of(course_dir).config.FileNameCollectorPlugin.named_regexp
    found = re.match(
        pattern, f"{course_dir}/downloaded/{UNIT}/extracted/{UNIT}_ada.l_attempt_20261012T175900Z_{UNIT}.ipynb"
    )
    assert found.groupdict() == {
        "student_id": "ada.l", "timestamp": "20261012T175900Z", "file_id": f"{UNIT}.ipynb"
    }  # fmt: skip
    assert parse_utc(found["timestamp"]).isoformat() == "2026-10-12T17:59:00"


@pytest.mark.slow
def test_a_file_from_the_tab_is_collected_by_nbgrader_and_graded(course_dir, released):
    made = site.in_tab(nbformat.read(released, as_version=4), partial=True)
    for cell in made.cells:
        if cell.id == "solution-masks-causal":
            cell.source = answer(registry.find("masks.causal"), "lower_triangle").read_text(encoding="utf-8")
    # as the extension's `withoutTab` does
    made.cells = [cell for cell in made.cells if cell.id not in (site.ABOUT, site.START)]
    archive = course_dir / "downloaded" / UNIT / "archive"
    archive.mkdir(parents=True)
    nbformat.write(made, archive / f"{UNIT}_ada.l_attempt_20261012T175900Z_{UNIT}.ipynb")
    for command in ("zip_collect", "autograde"):
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", command, UNIT],
            cwd=course_dir,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
    with Gradebook(f"sqlite:///{course_dir / 'gradebook.db'}") as gradebook:
        found = gradebook.find_submission(UNIT, "ada.l")
        assert found.timestamp.isoformat() == "2026-10-12T17:59:00"
        scores = {grade.name: grade.auto_score for grade in found.notebooks[0].grades if grade.cell.max_score}
    assert scores["check-masks-causal"] > 0 and scores["check-masks-softmax"] == 0


@pytest.mark.slow
def test_the_site_has_the_notebooks_the_wheels_and_the_answers_of_a_server(tmp_path, released):
    pyodide = tmp_path / "pyodide"
    pyodide.mkdir()
    for name in ("pyodide.mjs", "pyodide-lock.json"):
        (pyodide / name).write_text("{}", encoding="utf-8")
    written = site.write_site(tmp_path / "site", [released], pyodide=pyodide)
    folder = written.folder
    settings = json.loads((folder / "jupyter-lite.json").read_text(encoding="utf-8"))["jupyter-config-data"]
    kernel = settings["litePluginSettings"][site.KERNEL]
    assert settings["tfkitTab"] == "true" and kernel["disablePyPIFallback"] is True
    assert kernel["pyodideUrl"].startswith("./static/pyodide/") and written.offline
    listed = json.loads((folder / "pypi" / "all.json").read_text(encoding="utf-8"))
    wanted = {name.replace("_", "-") for name in ("torch", "pyborch", "tfkit-course", *site.PURE)}
    assert wanted <= {name.replace("_", "-") for name in listed}
    assert (folder / "files" / f"{UNIT}.ipynb").exists()
    unit = json.loads((folder / "tfkit" / "course").read_text(encoding="utf-8"))["units"][0]
    assert unit["path"] == f"{UNIT}.ipynb" and len(unit["exercises"]) == 4
    assert json.loads((folder / "tfkit" / "family").read_text(encoding="utf-8"))["models"]
    shutil.rmtree(folder)
