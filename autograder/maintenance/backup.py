"""`autograder backup` and `autograder restore`: a course in one file, checked, and back.

Databases are copied as SQLite copies them, so that grading and marking may go on meanwhile. A backup that was
interrupted, and a restore that met a damaged file, leave nothing behind.
"""

from __future__ import annotations

import errno
import hashlib
import lzma
import os
import shutil
import sqlite3
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from autograder.cluster.course import BadCourse, settings_of
from autograder.cluster.records import FILE as RECORDS_FILE
from autograder.cluster.records import LOCK as RECORDS_LOCK
from autograder.cluster.records import open_read_only
from autograder.maintenance.archive import (
    FILE_MODE,
    FOLDER_MODE,
    MANIFEST,
    BadBackup,
    Manifest,
    StoredFile,
    StoredFolder,
    read_manifest,
    refuse_other_names,
)
from autograder.maintenance.places import kept_outside
from autograder.marking.store import FILE as MARKING_FILE
from autograder.nbgrader.config import CONFIG
from autograder.serve.lock import LOCK as SERVE_LOCK
from tfkit_course import NAME
from tfkit_course.formats import MARKING, RECORDS, too_new

SQLITE = b"SQLite format 3\0"
BESIDE_SQLITE = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database that is in use
# folders that are made again, or are not ours
LEFT_OUT = {".git", ".venv", "node_modules", "__pycache__", ".ipynb_checkpoints", ".grading"}
LOCKS = (RECORDS_LOCK, SERVE_LOCK)  # in the course's root
# What says that a grade is stored is copied before what holds the grade: the copy may lack the news of a grade, never
# the grade itself. Grading that goes on from it repeats a step at most.
FIRST = (RECORDS_FILE, MARKING_FILE, "gradebook.db")
DATABASES = {RECORDS_FILE: RECORDS, MARKING_FILE: MARKING}  # whose tables have versions of ours
CHUNK = 1 << 20
LONGEST_PATH = 1000  # bytes below the course; the system takes 4096 in all, and a course is restored elsewhere
# what zipfile raises for an archive whose bytes have changed; RuntimeError if a file then seems to have a password
DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError, NotImplementedError, RuntimeError
)  # fmt: skip

Step = Callable[[str, int], None]  # called with the file that is copied, and how many of its bytes were


@dataclass
class BackupReport:
    """What a backup holds, and what the user should know of what it does not: a line each.

    unreadable: paths that other accounts let nobody read.
    """

    files: int = 0
    size: int = 0
    remarks: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def backup(course: Path, target: Path, step: Step = lambda path, count: None) -> BackupReport:
    """Write the course to the new file `target`, readable by its owner alone.

    Raises BadBackup, sqlite3.Error for a damaged database, and OSError; nothing is left then, nor after Ctrl-C.
    """
    root = course.resolve()
    if not (root / CONFIG).is_file():
        raise BadBackup(f"{course} is not a course: it has no {CONFIG}")
    if os.path.lexists(target):
        raise BadBackup(f"{target} is there already: a backup replaces no file, so give it another name")
    if not target.absolute().parent.is_dir():
        raise BadBackup(f"{target.parent} is not a folder: make it first")
    handle, name = tempfile.mkstemp(dir=target.absolute().parent, prefix=f".{target.name}.")  # of mode 600
    try:
        with os.fdopen(handle, "wb") as stream:
            report = _write(root, stream, {target.absolute(), Path(name)}, step)
            stream.flush()
            os.fsync(stream.fileno())
        with zipfile.ZipFile(name) as archive:  # what `restore` would refuse is no backup
            refuse_other_names(archive, read_manifest(archive, target), target)
        if os.path.lexists(target):
            raise BadBackup(f"{target} was written by somebody else meanwhile: give the backup another name")
        os.rename(name, target)
    finally:
        Path(name).unlink(missing_ok=True)
    return report


def _write(root: Path, stream: IO[bytes], own: set[Path], step: Step) -> BackupReport:
    report, files, formats = BackupReport(), list[StoredFile](), dict[str, int]()
    databases = _databases(root)
    folders, paths = _contents(root, own, databases, report)
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            try:
                with _readable(path, path in databases, formats) as source:
                    files.append(_store(archive, source, path, root, step))
            except FileNotFoundError:
                report.remarks.append(f"{path.relative_to(root)} was removed meanwhile, and is not in it")
            except PermissionError:
                report.unreadable.append(_unreadable_path(root, path))
        made = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = Manifest(root.name, version(NAME), made, formats, folders, files)
        archive.writestr(MANIFEST, manifest.as_text())
    report.files, report.size = len(files), manifest.size
    if report.unreadable:
        report.remarks.append(f"{len(report.unreadable)} paths that other accounts let nobody read are not in it, the "
                              f"first is {report.unreadable[0]}")  # fmt: skip
    report.remarks += _outside(root)
    return report


def _outside(root: Path) -> list[str]:
    """A line for each thing that the course keeps outside its folder."""
    try:
        return [f"not in it: {what}" for what in kept_outside(settings_of(root), root)]
    except BadCourse as error:
        return [f"what the course keeps outside its folder is unknown: {error}"]


def _databases(root: Path) -> list[Path]:
    """The course's own databases, in the order of their copies. What students hand in as one is a file like others."""
    paths = [root / name for name in FIRST]
    try:
        url = make_url(settings_of(root).coursedir.db_url)
    except (BadCourse, ArgumentError):
        return paths  # a copy of a broken course is better than none
    if url.get_backend_name() == "sqlite" and url.database:
        paths.append(Path(os.path.abspath(root / url.database)))
    return paths


def _contents(
    root: Path, own: set[Path], databases: list[Path], report: BackupReport
) -> tuple[list[StoredFolder], list[Path]]:
    """Every folder, and every file to copy in the order in which that is done; a remark says what is left out."""
    folders, files, links, left_out, too_long = list[StoredFolder](), list[Path](), 0, list[str](), list[str]()
    skipped = own | {root / name for name in LOCKS}
    skipped |= {path.with_name(path.name + suffix) for path in databases for suffix in BESIDE_SQLITE}
    for where, inner, names in os.walk(
        root, onerror=lambda error: report.unreadable.append(_unreadable_folder(root, error))
    ):
        if Path(where) != root:
            left_out += [str(Path(where, name).relative_to(root)) for name in sorted(LEFT_OUT & set(inner))]
        too_long += _take_long(root, where, inner) + _take_long(root, where, names)
        inner[:] = sorted(set(inner) - LEFT_OUT)
        for path in (Path(where, name) for name in [*inner, *sorted(names)]):
            try:
                mode = path.lstat().st_mode
            except PermissionError:
                report.unreadable.append(_unreadable_path(root, path))
                break  # a folder whose names can be read, and nothing else
            if stat.S_ISDIR(mode):
                folders.append(StoredFolder(path.relative_to(root).as_posix(), mode & FOLDER_MODE))
            elif not stat.S_ISREG(mode):
                links += 1
            elif path not in skipped:
                files.append(path)
    if links:
        report.remarks.append(f"{links} links or special files are not in it")
    if left_out:
        report.remarks.append(f"{len(left_out)} folders with names such as .git or node_modules are not in it, "
                              f"the first is {left_out[0]}")  # fmt: skip
    if too_long:
        report.remarks.append(f"{len(too_long)} paths of more than {LONGEST_PATH} bytes are not in it, the first "
                              f"begins with {too_long[0][:100]}")  # fmt: skip
    first = {path: number for number, path in enumerate(databases)}
    return folders, sorted(files, key=lambda path: first.get(path, len(first)))


def _take_long(root: Path, where: str, names: list[str]) -> list[str]:
    """The paths of a folder's entries that are too long to be restored anywhere; their names leave the list.

    A student can make some that no program opens by their path: they would cost everybody the backup."""
    base = os.path.relpath(where, root)
    found = [name for name in names if len(os.fsencode(os.path.join(base, name))) > LONGEST_PATH]
    names[:] = [name for name in names if name not in found]
    return [os.path.join(base, name) for name in found]


def _unreadable_folder(root: Path, error: OSError) -> str:
    """The folder that another account lets nobody read. Raises the error if that is not why it could not be read."""
    if not isinstance(error, PermissionError):
        raise error
    return _unreadable_path(root, Path(str(error.filename)))


def _unreadable_path(root: Path, path: Path) -> str:
    """The path that another account lets nobody read, or its folder, as a student may in the inbound folder.

    Raises PermissionError for what is the user's own: a backup must not lack what is the course's.
    """
    try:
        owner = path.lstat().st_uid
    except PermissionError:
        return _unreadable_path(root, path.parent)
    if owner == os.geteuid():
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return str(path.relative_to(root))


@contextmanager
def _readable(path: Path, is_database: bool, formats: dict[str, int]) -> Iterator[IO[bytes]]:
    """The file, or, of a database of the course, a copy that is sound and does not change; notes the version of its
    tables."""
    with path.open("rb") as source:
        if not is_database or source.read(len(SQLITE)) != SQLITE:
            source.seek(0)
            yield source
            return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.db")
        try:
            _copy_database(path, copy)
            if path.name in DATABASES:
                formats[path.name] = _user_version(copy)
        except sqlite3.Error as error:
            error.add_note(str(path))
            raise
        with copy.open("rb") as source:
            yield source


def _copy_database(path: Path, copy: Path) -> None:
    """Raises sqlite3.DatabaseError for one whose pages are damaged, which copying alone would not notice."""
    with open_read_only(path, timeout_s=60) as source, closing(sqlite3.connect(copy)) as into:
        source.backup(into)
        into.execute("pragma journal_mode = delete")
        (state,) = into.execute("pragma quick_check(1)").fetchone()
    if state != "ok":
        raise sqlite3.DatabaseError(f"malformed: {state}")


def _user_version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("pragma user_version").fetchone()[0])


def _store(archive: zipfile.ZipFile, source: IO[bytes], path: Path, root: Path, step: Step) -> StoredFile:
    name, found, hasher, size = path.relative_to(root).as_posix(), path.stat(), hashlib.sha256(), 0
    stored = StoredFile(name, 0, "", stat.S_IMODE(found.st_mode) & FILE_MODE, found.st_mtime_ns)
    member = zipfile.ZipInfo(stored.member)
    member.compress_type = archive.compression  # a ZipInfo says by itself that it is not compressed
    with archive.open(member, "w", force_zip64=True) as into:
        while part := source.read(CHUNK):
            into.write(part)
            hasher.update(part)
            size += len(part)
            step(name, len(part))
    return replace(stored, size=size, sha256=hasher.hexdigest())


# -- and back ----------------------------------------------------------------------------------------------------------


def restore(file: Path, target: Path, step: Step = lambda path, count: None) -> Manifest:
    """Write the course in the archive `file` to the new folder `target`, whole or not at all.

    Raises BadBackup for an archive that is damaged, foreign, of a later release, or names a path outside the folder;
    OSError as well. Nothing is left then, nor after Ctrl-C.
    """
    if os.path.lexists(target) and not (target.is_dir() and not target.is_symlink() and not any(target.iterdir())):
        raise BadBackup(f"{target} is there already: a backup is restored into a new folder")
    if not file.is_file():
        raise BadBackup(f"{file} is no file")
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = read_manifest(archive, file)
            refuse_other_names(archive, manifest, file)
            _refuse_newer(manifest, file)
            _unpack(archive, manifest, file, target, step)
    except DAMAGED as error:
        raise BadBackup(f"{file} is damaged, or not a backup ({error}): take another copy of it") from None
    return manifest


def _refuse_newer(manifest: Manifest, file: Path) -> None:
    for name, found in manifest.formats.items():
        if name in DATABASES and found > DATABASES[name].version:
            raise BadBackup(f"{file}: {too_new(name, found, DATABASES[name], manifest.release)}")


def _unpack(archive: zipfile.ZipFile, manifest: Manifest, file: Path, target: Path, step: Step) -> None:
    """Into a folder beside the target, which is renamed when all is there."""
    parent = target.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=parent, prefix=f".{target.name}."))  # of mode 700
    try:
        for folder in manifest.folders:
            (new / folder.path).mkdir(parents=True, exist_ok=True)
        for one in manifest.files:
            _unpack_file(archive, one, new / one.path, file, step)
        for folder in sorted(manifest.folders, key=lambda folder: folder.path, reverse=True):
            (new / folder.path).chmod(folder.mode)  # last: a folder may be one that nobody may write
        os.rename(new, target)  # fails where the target is no longer empty
    finally:
        if new.exists():
            _remove(new)


def _remove(folder: Path) -> None:
    for where, inner, _ in os.walk(folder):
        for name in inner:
            os.chmod(os.path.join(where, name), 0o700)
    shutil.rmtree(folder)


def _unpack_file(archive: zipfile.ZipFile, one: StoredFile, path: Path, file: Path, step: Step) -> None:
    hasher, left = hashlib.sha256(), one.size
    path.parent.mkdir(parents=True, exist_ok=True)
    into = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    with into, archive.open(one.member) as source:
        while left >= 0 and (part := source.read(CHUNK)):  # no more than was announced, whatever it unpacks to
            hasher.update(part)
            into.write(part)
            left -= len(part)
            step(one.path, len(part))
    if left or hasher.hexdigest() != one.sha256:
        raise BadBackup(f"{file} is damaged: {one.path} is not what was stored: take another copy of the backup")
    path.chmod(one.mode)
    os.utime(path, ns=(one.mtime_ns, one.mtime_ns))
