"""The verdict on a file: Python, or a notebook."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.api import Exercise, Verdict
from autograder.console.base import BadInput
from tfkit_course.small_file import SUBMISSION_BYTES, parse_json, read_small, reason


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
    if file.suffix not in (".py", ".ipynb"):
        raise BadInput(f"{file} is neither a .py nor an .ipynb file")
    try:
        content = read_small(file, SUBMISSION_BYTES)
        return content.decode("utf-8-sig") if file.suffix == ".py" else _notebook(file, content)
    except FileNotFoundError:
        raise BadInput(f"there is no file {file}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {reason(error)}") from None


def notebook_text(file: Path) -> str:
    """The text of a notebook's file, in UTF-8, 16 or 32. Raises OSError and UnicodeDecodeError."""
    content = read_small(file, SUBMISSION_BYTES)
    return content.decode(json.detect_encoding(content))


def _notebook(file: Path, content: bytes) -> dict[str, Any]:
    try:
        notebook = parse_json(content.decode(json.detect_encoding(content)))
        cells = notebook["cells"]
        sound = isinstance(cells, list) and all(isinstance(cell.get("metadata", {}), dict) for cell in cells)
    except (ValueError, KeyError, TypeError, AttributeError):
        sound = False
    if not sound:
        raise BadInput(f"{file} is not a notebook of format 4: open it in JupyterLab and save it again")
    return notebook
