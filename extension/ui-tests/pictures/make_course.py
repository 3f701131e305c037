"""Makes the folder of the lab's pictures: every unit of the course as a student receives it, and nothing done yet.

Usage: make_course.py FOLDER (emptied first)
"""

import shutil
import sys
from pathlib import Path

import nbformat
from nbgrader.preprocessors import ClearSolutions

from course.build import build


def main(root: Path) -> None:
    """Build all units and take their solutions away."""
    for old in (root, root.parent / "settings", root.parent / "workspaces"):
        shutil.rmtree(old, ignore_errors=True)
    build(root / "course")
    for source in sorted((root / "course" / "source").iterdir()):
        for path in source.glob("*.ipynb"):
            released, _ = ClearSolutions().preprocess(nbformat.read(path, as_version=4), {})
            nbformat.write(released, path)
        shutil.move(source, root / source.name)
    shutil.rmtree(root / "course")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
