"""Right and wrong answers to an exercise: files in its unit's folder, or in a wheel members of one archive."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from autograder.api import Exercise

FOLDER, ARCHIVE = "submissions", "submissions.zip"


@dataclass(frozen=True, order=True)
class Packed:
    """A file in an archive, with what its readers use of a Path."""

    archive: Path
    member: str

    @property
    def name(self) -> str:
        """The file's name."""
        return PurePosixPath(self.member).name

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return PurePosixPath(self.member).stem

    def read_bytes(self) -> bytes:
        """The whole file."""
        with zipfile.ZipFile(self.archive) as packed:
            return packed.read(self.member)

    def read_text(self, encoding: str = "utf-8") -> str:
        """The whole file as text."""
        return self.read_bytes().decode(encoding)


Answer = Path | Packed


def answers(exercise: Exercise, kind: str) -> list[Answer]:
    """The exercise's answers: `right`, `wrong`, `edge`: right but there, or `rewritten`: known ones in other words."""
    return list(_answers(exercise.folder, exercise.id, kind)) if exercise.folder else []


def _answers(folder: Path, exercise_id: str, kind: str) -> Iterator[Answer]:
    loose, packed = folder / FOLDER, folder / ARCHIVE
    if loose.is_dir() or not packed.is_file():
        yield from sorted((loose / exercise_id / kind).glob("*.py"))
        return
    for member in _members(packed):
        path = PurePosixPath(member)
        if path.parent == PurePosixPath(exercise_id, kind) and path.suffix == ".py":
            yield Packed(packed, member)


@lru_cache(maxsize=64)
def _members(archive: Path) -> tuple[str, ...]:
    with zipfile.ZipFile(archive) as packed:
        return tuple(sorted(packed.namelist()))
