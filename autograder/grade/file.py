"""The verdict on a file: Python, or a notebook."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.api import Exercise, Verdict
from autograder.console.base import BadInput
from tfkit_course.formats import notebook_fault
from tfkit_course.small_file import SUBMISSION_BYTES, notebook_cells, parse_json, read_small, reason


def grade_answer(exercise: Exercise, file: Path, content: Any, backend: Any, **how: Any) -> Verdict:
    """The verdict on what `read` returned; keywords: device, seed and known."""
    from autograder.grade import run

    if isinstance(content, str):
        verdict = run.grade_source(exercise, content, backend=backend, **how)
    else:
        verdict = run.grade_notebook(content, [exercise], student=file.name, backend=backend, **how)[0]
    return replace(verdict, file=str(file))


def read(file: Path) -> Any:
    """A Python file's text or a notebook's object; raises BadInput."""
    if file.suffix == ".ipynb":
        return read_notebook(file)[0]
    if file.suffix == ".py":
        return _text(file, "utf-8-sig")
    raise BadInput(f"{file} is neither a .py nor an .ipynb file")


def read_notebook(file: Path) -> tuple[dict[str, Any], str]:
    """A notebook's object, whose cells are of the right kinds, and the text of its file; raises BadInput.

    Marks in the metadata may be anything: those that are odd are none.
    """
    text = _text(file)
    try:
        notebook = parse_json(text)
        notebook_cells(notebook)
    except ValueError:
        raise BadInput(f"{file} is not a notebook of format 4: open it in JupyterLab and save it again") from None
    if fault := notebook_fault(notebook):
        raise BadInput(f"{file}: {fault}")
    return notebook, text


def _text(file: Path, encoding: str = "") -> str:
    """The file's text; without an encoding it is JSON, in UTF-8, 16 or 32."""
    try:
        content = read_small(file, SUBMISSION_BYTES)
        return content.decode(encoding or json.detect_encoding(content))
    except FileNotFoundError:
        raise BadInput(f"there is no file {file}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {reason(error)}") from None
