"""Every argument of a command line of the library and of the tools has a help text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("tfkit", "tools", "bench")


def undescribed(source: str) -> Iterator[str]:
    """The names of the arguments and subcommands that are added without a help text."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    for call in calls:
        added = getattr(call.func, "attr", "") in ("add_argument", "add_parser")
        if added and not any(keyword.arg == "help" for keyword in call.keywords):
            yield ast.unparse(call.args[0])


@pytest.mark.parametrize("package", PACKAGES)
def test_every_argument_has_a_help_text(package: str) -> None:
    files = {path: path.read_text(encoding="utf-8") for path in (ROOT / package).rglob("*.py")}
    assert any("add_argument" in text for text in files.values())
    assert {str(path.relative_to(ROOT)): names for path, text in files.items() if (names := [*undescribed(text)])} == {}


def test_an_argument_without_a_text_is_reported() -> None:
    source = 'parser.add_argument("--seed", type=int)\nparser.add_argument("--out", help="the folder")\n'
    assert [*undescribed(source)] == ["'--seed'"]
