"""What is in a backup: a zip archive with `manifest.json`, which names every file with its size and hash.

The manifest is the first thing that is read and the only thing that is believed: what the archive holds besides, what
is missing, and what has another size or hash is a damaged archive. Names that lead out of the folder are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tfkit_course.formats import BACKUP, is_newer, too_new
from tfkit_course.small_file import parse_json

FORMAT = "tfkit.backup"
MANIFEST = "manifest.json"
ODD_NAMES = "odd-names"
MANIFEST_BYTES = 64 << 20  # of a course with some 300,000 files
VALUES = 3_000_000
FILE_MODE, FOLDER_MODE = 0o777, 0o1777  # the bits that are kept; a program that runs as another user is none of ours


class BadBackup(Exception):
    """The archive cannot be written or restored; the message is one line and says what to do."""


@dataclass(frozen=True)
class StoredFile:
    """One file of a course: its path below the course directory, bits of permission, and time in nanoseconds."""

    path: str
    size: int
    sha256: str
    mode: int
    mtime_ns: int

    @property
    def member(self) -> str:
        """Its name in the archive: the path, or its hash, for one that no zip file can name, as students' files may
        have, and for a file of the course that is called as the manifest."""
        if self.path != MANIFEST and self.path.isprintable() and "\\" not in self.path:
            return self.path
        return f"{ODD_NAMES}/{hashlib.sha256(os.fsencode(self.path)).hexdigest()}"


@dataclass(frozen=True)
class StoredFolder:
    """One folder of a course, which may be empty."""

    path: str
    mode: int


@dataclass(frozen=True)
class Manifest:
    """What an archive holds. formats: the version of each database in it; release: of tfkit, which wrote it."""

    course: str
    release: str
    made: str
    formats: dict[str, int]
    folders: list[StoredFolder]
    files: list[StoredFile]

    def as_text(self) -> str:
        """The text of `manifest.json`. Raises BadBackup for one that `read_manifest` would refuse."""
        text = json.dumps({"format": FORMAT, "version": BACKUP.version, **asdict(self)}, indent=1)  # in ASCII
        if len(text) > MANIFEST_BYTES:
            raise BadBackup(f"{self.course} has {len(self.files)} files, whose names take more than the "
                            f"{MANIFEST_BYTES >> 20} MB of a {MANIFEST}: move old assignments out of it")  # fmt: skip
        return text

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)


def read_manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    """The manifest of the archive that was opened at `path`. Raises BadBackup."""
    foreign = f"{path} is not a backup that `autograder backup` wrote"
    try:
        info = archive.getinfo(MANIFEST)
        if info.file_size > MANIFEST_BYTES:
            raise BadBackup(f"{foreign}: its {MANIFEST} is larger than {MANIFEST_BYTES >> 20} MB")
        found = parse_json(archive.read(info).decode("utf-8"), VALUES)
    except (KeyError, ValueError, NotImplementedError, RuntimeError):
        raise BadBackup(f"{foreign}: it has no readable {MANIFEST}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BadBackup(foreign)
    if is_newer(found.get("version"), BACKUP):
        release = found.get("release")
        raise BadBackup(too_new(str(path), found.get("version"), BACKUP, release if isinstance(release, str) else ""))
    try:
        return _manifest(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadBackup(f"{path}: its {MANIFEST} is damaged ({error}): take another copy of the backup") from None


def _manifest(found: dict[str, Any]) -> Manifest:
    """The manifest of parsed JSON. Raises KeyError, TypeError or ValueError."""
    course, release, made = (_typed(found[name], str) for name in ("course", "release", "made"))
    formats = {_typed(name, str): _typed(version, int) for name, version in _typed(found["formats"], dict).items()}
    folders = [StoredFolder(_inside(one["path"]), _typed(one["mode"], int) & FOLDER_MODE) for one in found["folders"]]
    files = [
        StoredFile(
            _inside(one["path"]), _typed(one["size"], int), _typed(one["sha256"], str),
            _typed(one["mode"], int) & FILE_MODE, _typed(one["mtime_ns"], int),
        )
        for one in found["files"]
    ]  # fmt: skip
    _refuse_clashes([one.path for one in files], [one.path for one in folders])
    return Manifest(course, release, made, formats, folders, files)


def _typed(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{value!r:.60} is no {kind.__name__}")
    return value


def _inside(path: Any) -> str:
    """The path, if it stays in the folder that it is joined to. Raises ValueError."""
    parts = PurePosixPath(_typed(path, str)).parts
    if not parts or "/".join(parts) != path or ".." in parts or path.startswith("/") or "\0" in path:
        raise ValueError(f"the path {path!r:.80} leads out of the course's folder, or is none")
    return str(path)


def _refuse_clashes(files: list[str], folders: list[str]) -> None:
    """Raises ValueError for a path that comes twice, and for a file that another path lies in."""
    names = set(files)
    if len(names) < len(files) or names & set(folders):
        raise ValueError("a path comes twice")
    inner = {str(parent) for path in [*files, *folders] for parent in PurePosixPath(path).parents}
    if clash := inner & names:
        raise ValueError(f"{min(clash)} is a file and a folder")


def refuse_other_names(archive: zipfile.ZipFile, manifest: Manifest, path: Path) -> None:
    """Raises BadBackup unless the archive holds exactly the files of its manifest."""
    names = [name for name in archive.namelist() if name != MANIFEST]
    wanted = {one.member for one in manifest.files}
    if len(names) != len(set(names)) or set(names) != wanted:
        odd = _some(set(names) ^ wanted) or "a file is in it twice"
        raise BadBackup(f"{path} does not hold what its {MANIFEST} lists ({odd}): it is damaged: take another copy")


def _some(names: Iterable[str]) -> str:
    first, *others = [*sorted(names), ""]
    return f"{first} and {len(others) - 1} others" if len(others) > 1 else first
