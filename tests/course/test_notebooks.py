"""The notebooks run: with the solutions from top to bottom, and as released with no exception outside the exercises."""

from __future__ import annotations

import os
import re

import nbformat
import pytest
from nbclient import NotebookClient
from nbgrader.preprocessors import ClearSolutions

import course
from course.notebook import source_notebook

UNITS = [unit.name for unit in course.units()]
# what a lesson's text says of a cell, as a pattern of what that cell prints
TOLD = {
    "03-heads": "your MultiHeadAttention ran 6 times in BART",
    "05-transformer": r"26 tensors\nlargest state .*; yours and Marian's are \de-0[5-9] apart",
    "06-training": r"in BART; .* its gradients: \de-0[5-9]\n.*q_proj.bias: .*\n.* a k_proj.bias: \de-(0[6-9]|1\d)\n",
    "07-decoding": "beam:   your scaled_dot_product_attention ran 20 times in GPT2",
    "09-decoders": "your scaled_dot_product_attention ran 3 times in XLNet",
    "14-fast": "your my_attention ran 3 times in Llama",
    "18-debugging-transformers": r"last_layer_left_out +silent 16 [\s\S]*the change: x = x \+ self.attn",
}


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")


LESSON = {"setup", "predict", "exercise", "project", "demo"}  # the roles of the cells that every reader runs


def run(unit, roles, folder, *, released=False):
    """Execute the unit's cells that have one of the roles, in a kernel of its own; the first exception fails."""
    (path,) = [path for path in course.units() if path.name == unit]
    notebook = source_notebook(path)
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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("unit", UNITS)
def test_the_source_notebook_runs(unit, tmp_path):
    notebook = run(unit, LESSON, tmp_path / unit)
    assert "first." not in printed(notebook), "a demo did not find what it needs"
    assert "but the library's" not in printed(notebook), "a demo found other words than the library"
    assert re.search(TOLD.get(unit, ""), printed(notebook))
    errors = [out for cell in notebook.cells for out in cell.get("outputs", []) if out.get("name") == "stderr"]
    assert not errors
    values = [out.data["text/plain"] for cell in notebook.cells for out in cell.get("outputs", []) if "data" in out]
    assert not [value for value in values if "None" in value], "a cell shows what its last line returns by accident"
    asked = {name for cell in notebook.cells for name in re.findall(r'predicted\("([^"]+)"\)', cell.source)}
    assert asked == {value.split(":")[0] for value in values if ": what came out" in value}, "predictions not compared"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("unit", UNITS)
def test_the_released_notebook_runs_without_an_answer(unit, tmp_path):
    notebook = run(unit, LESSON, tmp_path / unit, released=True)
    assert nbformat.validate(notebook) is None


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("released", [False, True])
@pytest.mark.parametrize("unit", UNITS)
def test_the_experiments_run_whole(unit, released, tmp_path):
    notebook = run(unit, LESSON | {"experiment"}, tmp_path / unit, released=released)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip())
