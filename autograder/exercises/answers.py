"""Right and wrong answers to an exercise, below `submissions/<id>/` of its unit or in a wheel's archive of them.

`right/<style>.py` and `rewritten/<misconception>.py` are files. A wrong answer is an entry of `wrong.toml`, one that is
wrong only in edge cases an entry of `edge.toml`: the right answer that it starts from, and the lines that it replaces
(autograder.exercises.edits). An answer unlike every right one may be a file, `wrong/<misconception>.py`.
"""

from __future__ import annotations

import difflib
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.api import Exercise
from autograder.exercises import contracts
from autograder.exercises.edits import BadChange, Replacement, apply_replacements, difference, parse_replacements

FOLDER, ARCHIVE = "submissions", "submissions.zip"
KINDS = ("right", "wrong", "edge", "rewritten")


class BadCorpus(ValueError):
    """An entry of wrong.toml or edge.toml cannot be read; the message says which, and what to do."""


@dataclass(frozen=True, order=True)
class ArchivedAnswer:
    """A file in an archive, with the part of Path's interface that is used here."""

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
        """The contents of the file."""
        with zipfile.ZipFile(self.archive) as packed:
            return packed.read(self.member)

    def read_text(self, encoding: str = "utf-8") -> str:
        """The whole file as text."""
        return self.read_bytes().decode(encoding)


@dataclass(frozen=True)
class EditedAnswer:
    """A right answer with some of its lines replaced; it can be read like a file."""

    stem: str
    base: Path | ArchivedAnswer | RewrittenAnswer
    sentence: str  # the sentence that the student reads
    change: str
    score_share: float | None = None  # share of the points, for answers that are wrong only in edge cases
    conceptual: bool = False  # an error of concept rather than a slip; see docs/decisions/grading.md

    @property
    def name(self) -> str:
        """The name that a file with this answer would have."""
        return f"{self.stem}.py"

    @cached_property
    def replacements(self) -> tuple[Replacement, ...]:
        """The replacements in the base. Raises BadCorpus if the change does not fit its base."""
        try:
            return parse_replacements(self.change, _text(self.base))
        except BadChange as error:
            raise BadCorpus(f"{self.stem}: {error}") from None

    def base_text(self) -> str:
        """The right answer that it starts from."""
        return _text(self.base)

    def read_text(self, encoding: str = "utf-8") -> str:
        """The whole answer: its sentence as a docstring, then the code."""
        keeps = "" if self.score_share is None else f"# keeps {self.score_share:.2f} of the points\n"
        return f"{_docstring(self.sentence)}\n{keeps}\n{apply_replacements(_text(self.base), self.replacements)}"

    def read_bytes(self) -> bytes:
        """The same text, encoded in UTF-8."""
        return self.read_text().encode()


@dataclass(frozen=True)
class RewrittenAnswer:
    """A collected answer in the form of the exercise's contract, with the adapter to the course's form behind it."""

    exercise: Exercise
    original: Path | ArchivedAnswer

    @property
    def name(self) -> str:
        """The original's name."""
        return self.original.name

    @property
    def stem(self) -> str:
        """The original's name without its suffix."""
        return self.original.stem

    def read_text(self, encoding: str = "utf-8") -> str:
        """The whole answer."""
        return _rewritten(self.exercise, _text(self.original), self.stem)

    def read_bytes(self) -> bytes:
        """The same text, encoded in UTF-8."""
        return self.read_text().encode()


Answer = Path | ArchivedAnswer | EditedAnswer | RewrittenAnswer


def answers(exercise: Exercise, kind: str) -> list[Answer]:
    """The exercise's answers, in the form of its contract: `right`, `wrong`, `edge` (wrong only in edge cases), or
    `rewritten` (known mistakes, written independently).

    Raises BadCorpus if an entry cannot be read.
    """
    if exercise.contract is None:
        return _collected(exercise, kind)
    return [_under_contract(exercise, one) for one in _collected(exercise, kind)]


@lru_cache(maxsize=1024)
def _under_contract(exercise: Exercise, one: Answer) -> Answer:
    """A collected answer in the form of the exercise's contract."""
    if not isinstance(one, EditedAnswer):
        assert not isinstance(one, RewrittenAnswer)
        return RewrittenAnswer(exercise, one)
    assert not isinstance(one.base, RewrittenAnswer)
    base = RewrittenAnswer(exercise, one.base)
    edited = _rewritten(exercise, apply_replacements(one.base_text(), one.replacements), one.stem)
    return replace(one, base=base, change=difference(base.read_text(), edited))


@lru_cache(maxsize=1024)
def _rewritten(exercise: Exercise, text: str, name: str) -> str:
    return contracts.with_adapter(exercise, contracts.rewrite(exercise, text, name))


def _collected(exercise: Exercise, kind: str) -> list[Answer]:
    if exercise.folder is None:
        return []
    files = list(_files(exercise.folder, exercise.id))
    found: list[Answer] = [one for one in files if _place(one) == f"{kind}/{one.name}" and one.name.endswith(".py")]
    table = next((one for one in files if _place(one) == f"{exercise.id}/{kind}.toml"), None)
    if table is not None:
        right = {one.stem: one for one in files if _place(one) == f"right/{one.name}"}
        found += _entries(table, f"{exercise.id}/{kind}.toml", right)
    names = [one.stem for one in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise BadCorpus(f"{exercise.id}/{kind} has {min(twice)} as a file and as an entry: remove one")
    return sorted(found, key=lambda one: one.stem)


def answer(exercise: Exercise, name: str) -> Answer:
    """The answer called `name`, of any kind; `kind/name` if it is ambiguous. Raises LookupError that lists similar
    names."""
    kind, _, stem = name.rpartition("/")
    for one in KINDS if not kind else (kind,):
        for found in answers(exercise, one):
            if found.stem == stem.removesuffix(".py"):
                return found
    names = [f"{one}/{found.stem}" for one in KINDS for found in answers(exercise, one)]
    near = difflib.get_close_matches(name if kind else f"wrong/{name}", names, n=3, cutoff=0.0)
    raise LookupError(f"{exercise.id} has no answer called {name}; some of its {len(names)}: {', '.join(near)}")


def _entries(
    table: Path | ArchivedAnswer, where: str, right: dict[str, Path | ArchivedAnswer]
) -> Iterator[EditedAnswer]:
    try:
        entries = tomllib.loads(table.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadCorpus(f"{where} is not TOML: {error}") from None
    for name, entry in entries.items():
        yield _entry(f"{where}, {name}", name, entry, right)


def _entry(where: str, name: str, entry: Any, right: dict[str, Path | ArchivedAnswer]) -> EditedAnswer:
    if not isinstance(entry, dict):
        raise BadCorpus(f"{where} is outside any table: write [{name}] and below it base, sentence and change")
    for key in ("base", "sentence", "change"):
        if not isinstance(entry.get(key), str):
            raise BadCorpus(f"{where} needs {key}, a string")
    if not isinstance(entry.get("conceptual", False), bool):
        raise BadCorpus(f"{where}: conceptual must be true or false")
    if unknown := entry.keys() - {"base", "sentence", "change", "keeps", "conceptual"}:
        raise BadCorpus(f"{where} has {min(unknown)}, which is not a known key")
    if entry["base"] not in right:
        known = ", ".join(sorted(right))
        raise BadCorpus(f"{where}: its base {entry['base']} is not a right answer; available: {known}")
    base, sentence = right[entry["base"]], entry["sentence"].strip("\n")
    return EditedAnswer(name, base, sentence, entry["change"], entry.get("keeps"), entry.get("conceptual", False))


def _files(folder: Path, exercise_id: str) -> Iterator[Path | ArchivedAnswer]:
    """All files of the exercise, in its folder or in an archive."""
    loose, packed = folder / FOLDER, folder / ARCHIVE
    if loose.is_dir() or not packed.is_file():
        yield from sorted((loose / exercise_id).glob("*/*.py"))
        yield from sorted((loose / exercise_id).glob("*.toml"))
        return
    for member in _members(packed):
        if member.startswith(f"{exercise_id}/"):
            yield ArchivedAnswer(packed, member)


def _place(file: Path | ArchivedAnswer) -> str:
    """The file's name with that of its folder."""
    parts = file.parts if isinstance(file, Path) else PurePosixPath(file.member).parts
    return "/".join(parts[-2:])


def _docstring(sentence: str) -> str:
    quoted = sentence.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{quoted}\n"""' if "\n" in sentence or sentence.endswith('"') else f'"""{quoted}"""'


def _text(base: Path | ArchivedAnswer | RewrittenAnswer) -> str:
    changed = base.stat().st_mtime_ns if isinstance(base, Path) else 0
    return _read(base, changed)


@lru_cache(maxsize=256)
def _read(base: Path | ArchivedAnswer | RewrittenAnswer, _changed: int) -> str:
    return base.read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def _members(archive: Path) -> tuple[str, ...]:
    with zipfile.ZipFile(archive) as packed:
        return tuple(sorted(packed.namelist()))
