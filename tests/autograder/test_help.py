"""`--help` of every command line of the project describes the command and each argument."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from autograder import cli
from tfkit.tools.cli import make_tfkit_parser
from tfkit_course.command_line import make_parser

ROOT = Path(__file__).parents[2]
FOLDERS = dict.fromkeys(("autograder", "bench", "course", "research", "tfkit"), ROOT)
FOLDERS["tfkit_lab"] = ROOT / "extension"
MAKES_PARSER = re.compile(r"= (?:make_parser|argparse\.ArgumentParser)\(")
SENTENCES = re.compile(r"^[A-Z`].*[.]$", re.DOTALL)


class ParserFoundError(Exception):
    """Carries the parser of a module that was about to parse its arguments."""


def modules() -> list[str]:
    """The modules that are run with `python -m` and have a parser of their own."""
    found = []
    for package, base in FOLDERS.items():
        for file in sorted((base / package).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            if MAKES_PARSER.search(text) and "__main__" in text + file.name:
                parts = file.relative_to(base).with_suffix("").parts
                found.append(".".join(parts).removesuffix(".__main__"))
    return found


@cache
def parser_of(module: str) -> argparse.ArgumentParser:
    """The parser that the module makes when it is run."""

    def stop(parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        raise ParserFoundError(parser)

    where = importlib.import_module(module)
    if hasattr(where, "__path__"):  # a package
        where = importlib.import_module(f"{module}.__main__")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argparse.ArgumentParser, "parse_args", stop)
        patch.setattr(argparse.ArgumentParser, "parse_known_args", stop)
        with pytest.raises(ParserFoundError) as caught:
            getattr(where, "run_command", where.main)()
    parser = caught.value.args[0]
    assert isinstance(parser, argparse.ArgumentParser)
    return parser


def subparsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser and all that lie below it."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from subparsers(child)


def gaps(parser: argparse.ArgumentParser) -> Iterator[str]:
    """What the help of this parser and those below it does not say, a line each."""
    for one in subparsers(parser):
        if not SENTENCES.match((one.description or "").strip()):
            yield f"{one.prog}: its description must be full sentences"
        for action in one._actions:
            name = "/".join(action.option_strings) or action.dest
            if isinstance(action, argparse._SubParsersAction):
                described = {choice.dest for choice in action._choices_actions if choice.help}
                yield from (f"{one.prog} {child}: no summary" for child in action.choices.keys() - described)
            elif not action.help:
                yield f"{one.prog} {name}: no help"
        width = max(map(len, one.format_help().splitlines()))
        if width > 80:
            yield f"{one.prog}: a line of its help has {width} characters"


@pytest.fixture(autouse=True)
def _narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize(("make", "least"), [(cli._parser, 25), (make_tfkit_parser, 12)], ids=["autograder", "tfkit"])
def test_every_command_is_described_and_states_its_exit_status(
    make: Callable[[], argparse.ArgumentParser], least: int
) -> None:
    parsers = list(subparsers(make()))
    assert len(parsers) > least
    assert list(gaps(parsers[0])) == []
    ends = [one for one in parsers if not any(one is not other for other in subparsers(one))]
    assert [one.prog for one in ends if "exit status:\n  0 " not in (one.epilog or "")] == []


@pytest.mark.parametrize("module", modules())
def test_every_module_with_a_command_line_is_described(module: str) -> None:
    parser = parser_of(module)
    assert list(gaps(parser)) == []
    assert parser.prog in (f"python -m {module}", "autograder")


def test_modules_are_found() -> None:
    assert {"course.build", "bench.scale", "autograder.report.gradescope", "tfkit_lab.export"} <= set(modules())


def test_gaps_are_reported() -> None:
    parser = argparse.ArgumentParser("x", description="no sentence")
    parser.add_argument("file")
    parser.add_argument("--seed", type=int)
    child = parser.add_subparsers().add_parser("sub")
    child.add_argument("--long")
    places = [line.split(": ")[0] for line in gaps(parser)]
    assert places == ["x", "x file", "x --seed", "x sub", "x file sub", "x file sub --long"]


def test_a_wide_line_is_reported() -> None:
    parser = make_parser("a.module", "A sentence.", examples=("run " + "w" * 90,))
    assert list(gaps(parser)) == ["python -m a.module: a line of its help has 98 characters"]
