"""The stored outputs of the lessons' cells: `python -m tools.website.outputs [UNIT …]` runs the lessons again.

They are stored in `docs/book`, a file for each unit and a folder with its pictures. A cell's outputs are stored with a
hash of its source, so a cell that has changed shows none until this is run again. Units run in folders beside each
other, as in a course: unit 07 finds the translator that unit 05 trained.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from course import units
from course.notebook import source_notebook
from course.settings import unit_names
from tools.website import DOCS, SiteError

FOLDER = DOCS / "book"
VIEW = "application/vnd.tfkit.trace.v1+json"
COLOURS = 64  # colours of a picture's palette: figures have few, and files take a third of the size
FIRST = {"07-decoding": "05-transformer"}  # unit -> the one whose model, kept beside the units' folders, it reads
LONGEST = 6000  # characters of one printed output
Shown = list[dict[str, Any]]


def digest(source: str) -> str:
    """The hash that tells whether a cell has changed since it was run."""
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def load_outputs(unit: str) -> dict[str, Any]:
    """Cell -> the hash of its source and its outputs; empty for a unit that was never run."""
    file = FOLDER / f"{unit}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def outputs_of(unit: str, cell: NotebookNode) -> Shown | None:
    """The outputs of a cell: each a `text`, `markdown`, `image` (a file's name) or `view`. None: unknown."""
    kept = load_outputs(unit).get(cell.id)
    return kept["outputs"] if kept and kept["source"] == digest(cell.source) else None


def run(unit: str, course: Path) -> NotebookNode:
    """The unit's source notebook, run from top to bottom without its checks, in its folder of `course`.

    A unit whose model it reads runs before it, unless it already has. Raises SiteError for a cell that fails.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    folder = {folder.name: folder for folder in units()}[unit]
    if unit in FIRST and not (course / FIRST[unit]).exists():
        run(FIRST[unit], course)
    (here := course / unit).mkdir(parents=True)
    notebook = source_notebook(folder)
    for cell in notebook.cells:
        if cell.metadata.get("tfkit", {}).get("role") == "check":
            cell.source = "pass"
    client = NotebookClient(notebook, timeout=3600, kernel_name="python3", resources={"metadata": {"path": str(here)}})
    try:
        client.execute()
    except CellExecutionError as error:
        raise SiteError(f"{unit} stopped: {str(error).strip().splitlines()[-1]}") from None
    return notebook


def store_outputs(unit: str, notebook: NotebookNode) -> Path:
    """Replace the stored outputs of the unit by those of `notebook`."""
    pictures = FOLDER / unit
    shutil.rmtree(pictures, ignore_errors=True)
    kept = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.outputs and cell.metadata.get("tfkit", {}).get("role") != "predict":
            outputs = [found for output in join_outputs(cell.outputs) if (found := _output(output, pictures, cell.id))]
            if outputs:
                kept[cell.id] = {"source": digest(cell.source), "outputs": outputs}
    file = FOLDER / f"{unit}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def join_outputs(outputs: list[Any]) -> list[Any]:
    """The outputs, with printed pieces joined, only the final state of overwritten lines, and no warnings."""
    found: list[Any] = []
    for output in outputs:
        if output.output_type != "stream":
            found.append(output)
        elif output.name == "stdout":
            if found and found[-1].output_type == "stream":
                found[-1]["text"] += output.text
            else:
                found.append(NotebookNode(output_type="stream", text=output.text))
    for output in found:
        if output.output_type == "stream":
            output["text"] = re.sub(r"[^\n]*\r(?!\n)", "", output.text)
    return found


def _output(output: Any, pictures: Path, cell: str) -> dict[str, Any] | None:
    data = output.get("data", {})
    if VIEW in data:
        return {"view": without_code({key: value for key, value in data[VIEW].items() if key != "model_id"})}
    if "image/png" in data:
        return {"image": _picture(base64.b64decode(data["image/png"]), pictures, cell)}
    if "text/markdown" in data:
        return {"markdown": data["text/markdown"]}
    text = (output.get("text") or data.get("text/plain") or "").rstrip()
    if not text or ": what came out\n" in text:  # a prediction that nobody made
        return None
    return {"text": text if len(text) <= LONGEST else f"{text[:LONGEST]}\n…"}


def without_code(state: dict[str, Any]) -> dict[str, Any]:
    """A view's state without the expressions of a walk, which in a lesson are the solution's."""
    trace = state["trace"]
    if "stages" not in trace:
        return state
    stages = [{key: value for key, value in stage.items() if key != "code"} for stage in trace["stages"]]
    return {**state, "trace": {**trace, "stages": stages}}


def _picture(raw: bytes, pictures: Path, cell: str) -> str:
    from PIL import Image

    pictures.mkdir(parents=True, exist_ok=True)
    number = 1 + len(list(pictures.glob(f"{cell}.*.png")))
    image = Image.open(io.BytesIO(raw)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(pictures / f"{cell}.{number}.png", optimize=True)
    return f"{cell}.{number}.png"


def main(names: list[str]) -> int:
    """Run the named units, or all; 1 if one fails."""
    with tempfile.TemporaryDirectory() as course:
        for unit in names or unit_names():
            try:
                print(store_outputs(unit, run(unit, Path(course))))
            except (SiteError, KeyError) as error:
                print(f"tools.website.outputs: {error}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
