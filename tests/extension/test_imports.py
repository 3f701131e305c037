"""The folders of the front end do not import each other in a circle: read from the source, as for Python."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.test_imports import cycles

SOURCES = Path(__file__).parents[2] / "extension/src"
IMPORT = re.compile(r"(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'")


def imported(file: Path) -> set[Path]:
    """The files of the front end that a file imports, at its top or when it is needed, types included."""
    names = [Path(os.path.normpath(file.parent / name)) for name in IMPORT.findall(file.read_text(encoding="utf-8"))]
    candidates = [(name.with_name(f"{name.name}.ts"), name / "index.ts", name) for name in names]
    return {next(path for path in paths if path.is_file()) for paths in candidates}


def part(file: Path) -> str:
    """A folder right below `src`, or right below `plugins`; a file beside those folders stands for itself.

    The list of all views is generated from the widgets and lies above them; what else is generated lies below.
    """
    first, *rest = file.relative_to(SOURCES).parts
    if (first, *rest) == ("generated", "views.ts"):
        return "generated/views.ts"
    return f"{first}/{rest[0]}" if first == "plugins" and len(rest) > 1 else first


@pytest.fixture(scope="module")
def pairs() -> set[tuple[Path, Path]]:
    """(file, file that it imports), of all files but tests and those that the build writes."""
    if not (SOURCES / "generated").is_dir():
        pytest.skip("the front end was not built: extension/src/generated is missing")
    files = [file for file in SOURCES.rglob("*.ts") if not file.name.endswith(".spec.ts")]
    return {(file, other) for file in files for other in imported(file)}


def test_folders_do_not_import_each_other_in_a_circle(pairs: set[tuple[Path, Path]]) -> None:
    parts = {(part(start), part(end)) for start, end in pairs if part(start) != part(end)}
    assert len(parts) > 20
    wrong = cycles(parts)
    named = sorted(f"{start.name} imports {end.name}" for start, end in pairs if (part(start), part(end)) in wrong)
    assert not wrong, "\n".join(named)


def test_files_do_not_import_each_other_in_a_circle(pairs: set[tuple[Path, Path]]) -> None:
    assert not cycles((str(start.relative_to(SOURCES)), str(end.relative_to(SOURCES))) for start, end in pairs)


def test_what_plugins_share_knows_none_of_them(pairs: set[tuple[Path, Path]]) -> None:
    below = {(part(start), part(end)) for start, end in pairs if part(start) in ("shared", "widgets", "schemas")}
    assert not [pair for pair in below if pair[1].startswith("plugins/")]


def test_a_widget_knows_neither_the_lab_nor_its_plugins(pairs: set[tuple[Path, Path]]) -> None:
    """Widgets run in a kernel of any front end, and in pages without one."""
    assert {part(end) for start, end in pairs if part(start) == "widgets"} <= {"widgets", "generated", "schemas"}
