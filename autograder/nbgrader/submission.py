"""Reads submissions of any kind: links and devices are removed, and a broken file becomes an empty notebook."""

from __future__ import annotations

import json
import math
import os
import stat
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning
from nbgrader.converters import Autograde
from traitlets import log as traitlets_log

from autograder.feedback.text import plain
from autograder.nbgrader import unfinished
from autograder.nbgrader.rebuild import UNGRADED_ROLES
from autograder.nbgrader.timestamps import timestamp_fault, tolerate_timestamps
from tfkit_course.formats import notebook_fault
from tfkit_course.small_file import SUBMISSION_BYTES, parse_json, read_small, reason

CELLS = 2_000  # per notebook; a lesson has a hundred
OUTPUTS = 200  # outputs, and attachments, read per notebook: each is validated in the grader's own process
FORMATS = 10  # of an attachment's data; the front end writes one
MAX_OUTPUT = 1 << 20  # characters of all these outputs together


class UnreadableNotebook(ValueError):
    """The file is not a notebook; the message tells the student why."""


def read(path: str | os.PathLike) -> NotebookNode:
    """The notebook in `path`, without invalid outputs. Raises UnreadableNotebook and nothing else."""
    return parse(text_of(Path(path)))


def parse(text: str) -> NotebookNode:
    """The notebook in this text, as `read` returns it. Raises UnreadableNotebook and nothing else."""
    return parse_counting(text)[0]


def parse_counting(text: str) -> tuple[NotebookNode, int]:
    """The notebook in this text, and how many of its cells had the id of another one and got a new id.

    Raises UnreadableNotebook and nothing else.
    """
    try:
        found = parse_json(text)
        if fault := notebook_fault(found):
            raise UnreadableNotebook(fault)
        data = _bounded(_without_foreign_metadata(found))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DuplicateCellId)  # two lines for each of maybe thousands of cells
            warnings.simplefilter("ignore", MissingIDFieldWarning)
            nb = nbformat.reads(json.dumps(data), as_version=4)
            return _valid(nb), _equal_ids(data)
    except UnreadableNotebook:
        raise
    except RecursionError as error:
        raise UnreadableNotebook("it is nested too deeply") from error
    except Exception as error:  # nbformat has no common base class for the errors of a malformed file
        raise UnreadableNotebook(f"it is not a Jupyter notebook ({_first_line(error)})") from error


def _equal_ids(data: Any) -> int:
    ids = [cell["id"] for cell in _listed(data.get("cells")) if isinstance(cell, dict) and "id" in cell]
    return len(ids) - len(set(ids))


def equal_ids_note(number: int) -> str:
    """What the instructor is told of cells with equal ids: it costs nothing, since no id counts for a grade."""
    return f"{number} cells have the id of another cell: they got new ones"


def text_of(path: Path) -> str:
    """The file's text, in UTF-8, UTF-16 or UTF-32, with or without a byte order mark, as editors of Windows write it.

    Every line ends with \\n, so that a file has the same hash whatever its line endings.

    Follows no link and opens no device. Raises UnreadableNotebook if the file is not a valid notebook.
    """
    try:
        if path.lstat().st_size > SUBMISSION_BYTES:
            raise UnreadableNotebook(
                f"it is larger than {SUBMISSION_BYTES >> 20} MB; clear its outputs and submit it again"
            )
        content = read_small(path, SUBMISSION_BYTES)
    except FileNotFoundError as error:
        raise UnreadableNotebook("it is missing (links and special files are refused)") from error
    except OSError as error:
        raise UnreadableNotebook(reason(error)) from error
    try:
        text = content.decode(json.detect_encoding(content))
    except UnicodeDecodeError as error:
        raise UnreadableNotebook(f"it is not a Jupyter notebook ({_first_line(error)})") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _bounded(data: Any) -> Any:
    """`data` with at most OUTPUTS outputs, so that reading it stays fast. Raises UnreadableNotebook.

    Only outputs of demonstrations are shown later (see `rebuild.free_cell`); all others are made again in the box.
    """
    sheets = data.get("worksheets") if isinstance(data, dict) else None
    holders = [data, *(sheets if isinstance(sheets, list) else [])]
    cells = [cell for one in holders if isinstance(one, dict) for cell in _listed(one.get("cells"))]
    if len(cells) > CELLS:
        raise UnreadableNotebook(
            f"it has more than {CELLS} cells; delete those that do not belong to it and submit it again"
        )
    outputs, attachments, characters = OUTPUTS, OUTPUTS, MAX_OUTPUT
    for cell in cells:
        if isinstance(cell, dict) and "attachments" in cell:
            cell["attachments"] = _attached(cell["attachments"], attachments)
            attachments -= len(cell["attachments"])
        if not isinstance(cell, dict) or "outputs" not in cell:
            continue
        kept = []
        for output in _listed(cell["outputs"])[:outputs] if _is_shown(cell) else []:
            characters -= len(json.dumps(output))
            if characters < 0:
                break
            kept.append(output)
        outputs -= len(kept)
        cell["outputs"] = kept
    return data


def _attached(attachments: Any, most: int) -> dict[str, Any]:
    """At most so many of a cell's attachments, each in a few formats: a validator reads each by itself."""
    pairs = attachments.items() if isinstance(attachments, dict) else ()
    whole = ((name, one) for name, one in pairs if isinstance(one, dict) and len(one) <= FORMATS)
    return dict(islice(whole, most))


MARKS = ("nbgrader", "tfkit")  # metadata of a cell of which anything is used
WHOLE = ("kernelspec", "language_info", "tfkit")  # of the notebook: its kernel, and why it could not be read
PLAIN = (str, int, float, bool, type(None))


def _without_foreign_metadata(data: Any) -> Any:
    """`data` without what only costs time to validate: of the notebook's metadata and of a cell's the plain values of
    a few entries are used."""
    if isinstance(data, dict):
        data["metadata"] = _entries(data.get("metadata"), WHOLE)
        for cell in _listed(data.get("cells")):
            if isinstance(cell, dict) and isinstance(cell.get("metadata"), dict):
                cell["metadata"] = _entries(cell["metadata"], MARKS)
    return data


def _entries(metadata: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: _plain(metadata[name]) for name in names if name in metadata} if isinstance(metadata, dict) else {}


def _plain(marks: Any) -> dict[str, Any]:
    return {name: one for name, one in marks.items() if _is_plain(one)} if isinstance(marks, dict) else {}


def _is_plain(one: Any) -> bool:
    """Whether it is a plain value that JSON has: a browser reads no file with NaN in it, which Python writes."""
    return isinstance(one, PLAIN) and not (isinstance(one, float) and not math.isfinite(one))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_shown(cell: dict[str, Any]) -> bool:
    metadata = cell.get("metadata")
    tfkit = metadata.get("tfkit") if isinstance(metadata, dict) else None
    return isinstance(tfkit, dict) and tfkit.get("role") in UNGRADED_ROLES


def _valid(nb: NotebookNode) -> NotebookNode:
    if any(not isinstance(cell, dict) for cell in nb.cells):
        raise UnreadableNotebook("one of its cells is not an object")
    for cell in nb.cells:
        cell.source = "".join(cell.source) if isinstance(cell.source, list) else str(cell.get("source", ""))
        cell.metadata = cell.metadata if isinstance(cell.get("metadata"), dict) else NotebookNode()
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [output for output in cell.get("outputs", []) if _valid_output(output)]
    if not nbformat.validator.isvalid(nb):
        raise UnreadableNotebook("its cells do not follow the notebook format")
    return nbformat.v4.upgrade(nb, from_minor=nb.nbformat_minor)  # gives cells ids, like those of restored cells


def _valid_output(output: Any) -> bool:
    try:
        json.dumps(output, allow_nan=False)
    except ValueError:
        return False
    cell = nbformat.v4.new_code_cell("", id="probe", outputs=[output])
    return nbformat.validator.isvalid(nbformat.v4.new_notebook(cells=[cell]))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:120]


def empty(why: str) -> NotebookNode:
    """The replacement for an unreadable notebook; its cells are restored from the gradebook and earn zero."""
    return _replacement(
        f"**This notebook could not be read: {why}.** Nothing in it was graded. Open it, save it and submit it again.",
        why,
    )


def absent(why: str) -> NotebookNode:
    """The replacement for a notebook that was not handed in under its name; a person decides what it is worth."""
    note = f"**Your submission has {why}.** Nothing was graded yet. Give the notebook its name again and submit it."
    return _replacement(note, why)


def _replacement(note: str, why: str) -> NotebookNode:
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(note, id="unreadable")])
    nb.metadata["tfkit"] = {"unreadable": why}
    return nb


class SubmissionExporter(NotebookExporter):
    """A NotebookExporter that accepts any file, so that a broken notebook is graded too.

    nbgrader creates it once, before the first submission, so it also removes what a killed run left behind.
    """

    def __init__(self, config: Any = None, **kw: Any) -> None:
        super().__init__(config=config, **kw)
        if isinstance(self.parent, Autograde):
            unfinished.writable(self.parent)
            unfinished.clear(self.parent)
            tolerate_timestamps(self.parent.coursedir)
            self._report_timestamps(self.parent.assignments)
            unfinished.report_renamed_files(self.parent)

    def _report_timestamps(self, folders: Iterable[str]) -> None:
        for folder in sorted(folders):
            if fault := timestamp_fault(folder):
                self.log.warning("%s: %s", folder, fault)

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> tuple[Any, dict[str, Any]]:
        """As in the parent class, but an unreadable file is exported as an empty notebook that says so."""
        try:
            nb, equal = parse_counting(text_of(Path(filename)))
            if equal:
                self.log.warning("%s: %s", filename, equal_ids_note(equal))
        except UnreadableNotebook as error:
            self.log.warning("%s could not be read: %s", filename, error)
            nb = empty(str(error))
        folder, name = os.path.split(filename)
        where = {"path": folder, "name": os.path.splitext(name)[0]}  # predictions lie beside it
        return self.from_notebook_node(nb, resources={**(resources or {}), "metadata": where}, **kw)


def prepare(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's `pre_convert_hook`: it is called with the notebooks of one student (and student="*")."""
    for folder in sorted({os.path.dirname(notebook) for notebook in notebooks}):
        unfinished.begin(folder)
        for path in drop_special(folder):
            traitlets_log.get_logger().warning("Removed %s: a link or a special file", plain(path))


def special_files(folder: str | os.PathLike[str]) -> list[str]:
    """The paths of everything under `folder` that is neither a plain file nor a directory."""
    found = []
    for where, folders, files in os.walk(os.fspath(folder), followlinks=False):
        for name in folders + files:
            path = os.path.join(where, name)
            try:
                mode = os.lstat(path).st_mode
            except OSError:  # nobody may look into this folder, so nothing in it is read either
                continue
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                found.append(path)
    return found


def drop_special(folder: str | os.PathLike[str]) -> list[str]:
    """Delete everything under `folder` that is neither a plain file nor a directory; returns what was deleted."""
    removed = []
    for path in special_files(folder):
        with suppress(OSError):  # in a folder that may not be changed; what is read later is no link either
            os.remove(path)
            removed.append(path)
    return removed
