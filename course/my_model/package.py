"""Writes `my_model/` and imports it: a module for each part that is the student's own, and `__init__` to be read."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from autograder.api import Exercise
from course.files import write_if_new
from tfkit_lab.model_table import PACKAGE

HEADER = '''"""The parts of your model, in the course's order.

`python -m course.my_model` writes this file anew: run it in the folder that holds my_model/.

A part that has passed its check is your own code as it stands in your notebook now, even if you have edited it since.
The rest comes from the library until you have built it.
"""
'''
PART_HEADER = '"""Your cell for '
GIVEN = {
    "math": "import math",
    "torch": "import torch",
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
}  # what a lesson's first cell imports
_OURS = (
    '"""The parts of your model, in the course\'s order.',
    PART_HEADER,
    '"""A byte-level language model made of your own parts',
)


@dataclass(frozen=True)
class ModelPart:
    """One exercise in the package: the student's code, or None where the library's definition stands in for it."""

    exercise: Exercise
    code: str | None
    reason: str = ""  # why it is the library's
    imports: tuple[str, ...] = field(default=())  # what its module begins with

    @property
    def module(self) -> str:
        """The name of its module, which no other part has."""
        return re.sub(r"\W", "_", f"unit_{self.exercise.unit[:2]}_{self.exercise.id}")

    @property
    def entry(self) -> str:
        """Its place in `__init__`."""
        heading = f"# {self.exercise.unit[:2]} · {self.exercise.title} ({self.exercise.id})"
        if self.code is not None:
            lines = [f"from {PACKAGE}.{self.module} import {symbol} as {symbol}" for symbol in self.exercise.symbols]
            return "\n".join([f"{heading}: yours", *lines]) + "\n"
        places = (reference.partition(":")[::2] for reference in self.exercise.references)
        lines = [f"from {module} import {symbol} as {symbol}" for module, symbol in places]
        return "\n".join([f"{heading}: the library's, {self.reason}", *lines]) + "\n"

    @property
    def text(self) -> str:
        """Its module: the student's cell, after what the cell takes from elsewhere."""
        head = f'{PART_HEADER}{self.exercise.id}, which `python -m course.my_model` writes anew."""'
        return "\n\n".join([head, *filter(None, ["\n".join(self.imports)]), (self.code or "").strip()]) + "\n"


def write_package(folder: Path, parts: list[ModelPart]) -> None:
    """Write `__init__`, `model` and the student's parts; delete the modules of parts that are the library's again.

    Raises ValueError where a file that the course did not write is in the way.
    """
    texts = {f"{part.module}.py": part.text for part in parts if part.code is not None}
    texts["__init__.py"] = "\n".join([HEADER, *(part.entry for part in parts)])
    texts["model.py"] = (Path(__file__).parent / "model.py").read_text(encoding="utf-8")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file, and the course's package is written there: rename it")
    for name in texts:
        if (folder / name).exists() and not _is_ours(folder / name):
            raise ValueError(f"{folder / name} was not written by the course: rename it or its folder, then run again")
    for path in folder.glob("unit_*.py"):
        if path.name not in texts and _is_ours(path):
            path.unlink()
    for name, text in texts.items():
        write_if_new(folder / name, text)


def load(root: Path) -> ModuleType:
    """The student's package below `root`, as it is on disk now; what its cells print is left out."""
    for name in [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]:
        del sys.modules[name]
    sys.path[:] = [str(root), *(one for one in sys.path if one != str(root))]
    importlib.invalidate_caches()
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # a cache does not see two writes in one second
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return importlib.import_module(PACKAGE)
    finally:
        sys.dont_write_bytecode = kept


def failing_part(root: Path, parts: list[ModelPart]) -> tuple[ModelPart, str] | None:
    """The first of the student's own parts that cannot be imported, with the error in one line; None if all can."""
    try:
        load(root)
    except (Exception, SystemExit) as error:
        for part in parts:
            module = sys.modules.get(f"{PACKAGE}.{part.module}")
            if part.code is not None and not all(hasattr(module, symbol) for symbol in part.exercise.symbols):
                return part, " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
        raise
    return None


def _is_ours(path: Path) -> bool:
    """Whether the course wrote this file, by its first words."""
    with path.open("rb") as file:
        return file.read(200).decode("utf-8", errors="replace").startswith(_OURS)
