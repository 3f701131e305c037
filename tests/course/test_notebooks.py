"""The notebooks run: with the solutions from top to bottom, and as released with no exception outside the exercises."""

from __future__ import annotations

import os

import nbformat
import pytest
from nbclient import NotebookClient
from nbgrader.preprocessors import ClearSolutions

import course
from course import build as builder

UNITS = [unit.name for unit in course.units()]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")


def run(unit, roles, folder, *, released=False):
    """Execute the unit's cells that have one of the roles, in a kernel of its own; the first exception fails."""
    (path,) = [path for path in course.units() if path.name == unit]
    notebook = builder.notebook(path)
    if released:
        notebook, _ = ClearSolutions().preprocess(notebook, {})
    notebook.cells = [cell for cell in notebook.cells if cell.metadata.get("tfkit", {}).get("role") in roles]
    folder.mkdir(exist_ok=True)
    NotebookClient(
        notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": os.fspath(folder)}}
    ).execute()
    return notebook


def printed(notebook):
    return "".join(out.get("text", "") for cell in notebook.cells for out in cell.get("outputs", []))


@pytest.mark.parametrize("unit", UNITS)
def test_the_source_notebook_runs(unit, tmp_path):
    notebook = run(unit, {"setup", "exercise", "demo"}, tmp_path / unit)
    assert "first." not in printed(notebook), "a demo did not find what it needs"
    errors = [out for cell in notebook.cells for out in cell.get("outputs", []) if out.get("name") == "stderr"]
    assert not errors


@pytest.mark.parametrize("unit", UNITS)
def test_the_released_notebook_runs_without_an_answer(unit, tmp_path):
    notebook = run(unit, {"setup", "exercise", "demo"}, tmp_path / unit, released=True)
    assert nbformat.validate(notebook) is None


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("released", [False, True])
@pytest.mark.parametrize("unit", UNITS)
def test_the_experiments_run_whole(unit, released, tmp_path):
    run(unit, {"setup", "exercise", "demo", "experiment"}, tmp_path / unit, released=released)
