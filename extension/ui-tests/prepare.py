"""Makes the folder the browser tests open: a course unit as a student holds it, and a notebook with a recorded run.

Usage: prepare.py FOLDER (emptied first).
"""

import json
import shutil
import sys
from pathlib import Path

import nbformat

from course.build import build
from tfkit_lab import to_html

GOLDEN = Path(__file__).parents[2] / "tests" / "extension" / "golden"
UNIT = "02-masks"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def main(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    build(root / "course", [UNIT])
    shutil.move(root / "course" / "source" / UNIT, root / UNIT)
    shutil.rmtree(root / "course")
    shutil.copy(GOLDEN / "beam.json", root / "beam.json")
    source = 'import json\nfrom tfkit_lab import Stepper\nw = Stepper(json.load(open("beam.json")))\nw'
    cells = [nbformat.v4.new_code_cell(source), nbformat.v4.new_code_cell("w.step")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), root / "stepper.ipynb")
    trace = json.loads((GOLDEN / "beam.json").read_text(encoding="utf-8"))
    (root / "page.html").write_text(to_html(trace), encoding="utf-8")
    quiet = root.parent / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True, exist_ok=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
