"""Each command that a document shows can be typed: the program has this subcommand, these options, these targets."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from nbgrader.apps import NbGraderApp

from autograder import cli
from course import build, template
from tfkit.tools.cli import make_tfkit_parser

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^ *```console\n(.*?)^ *```$", re.M | re.S)
INLINE = re.compile(r"`((?:autograder|tfkit|nbgrader|make|python -m course\.\w+) [^`\n]+)`")
TARGET = re.compile(r"^([\w-]+):", re.M)


def documents() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def typed(text: str) -> Iterator[str]:
    """The commands of the blocks, without comments and outputs; those joined by && one by one."""
    for block in BLOCK.findall(text):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            if line.lstrip().startswith("$ "):
                yield from re.split(r" && | \| | >>? | < | ; |; ", re.sub(r"\s#.*", "", line.lstrip()[2:]))


def words(command: str) -> list[str]:
    return [word for word in shlex.split(command) if not re.fullmatch(r"[A-Z_]+=.*", word)]


def parsed_whole(parser: ArgumentParser, arguments: list[str]) -> str | None:
    try:
        parser.parse_args(arguments)
    except SystemExit as stopped:
        return None if stopped.code in (0, None) else "the program refuses it"
    return None


def unknown_option(parser: ArgumentParser, arguments: list[str]) -> str | None:
    """What of a command in a sentence, which may lack arguments, does not exist."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction) and arguments:
            first, *rest = arguments
            if first in action.choices:
                return unknown_option(action.choices[first], rest)
            return f"there is no {first}" if re.fullmatch(r"[a-z][a-z-]*", first) else None
    options = [word.partition("=")[0] for word in arguments if word.startswith("--")]
    return next((f"no option {one}" for one in options if one not in parser._option_string_actions), None)


def of_make(arguments: list[str]) -> str | None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    return next((f"no target {one}" for one in arguments if re.fullmatch(r"[\w-]+", one) and one not in targets), None)


def of_nbgrader(arguments: list[str]) -> str | None:
    return None if arguments[0] in NbGraderApp.subcommands else f"there is no {arguments[0]}"


@lru_cache
def parser_of_autograder() -> ArgumentParser:
    return cli._parser()


def problem(command: str, judge: Callable[[ArgumentParser, list[str]], str | None]) -> str | None:
    """Why the command cannot be typed, or None; also None for programs that are not this project's."""
    found = words(command)
    match found:
        case ["autograder", *arguments] if arguments:
            return judge(parser_of_autograder(), arguments)
        case ["python", "-m", "course.build", *arguments]:
            return judge(build._parser(), arguments)
        case ["python", "-m", "course.template", *arguments]:
            return judge(template._parser(), arguments)
        case ["tfkit", *arguments] if arguments:
            return judge(make_tfkit_parser(), arguments)
        case ["make", *arguments]:
            return of_make(arguments)
        case ["nbgrader", *arguments] if arguments:
            return of_nbgrader(arguments)
    return None


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_the_commands_of_a_document_can_be_typed(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    whole = {command: problem(command, parsed_whole) for command in typed(text)}
    inline = {command: problem(command, unknown_option) for command in INLINE.findall(text)}
    assert {command: why for command, why in {**inline, **whole}.items() if why} == {}


def test_what_cannot_be_typed_is_seen() -> None:
    wrong = [
        *("autograder grad my-course", "autograder grade my-course 03-heads --jobs 2", "nbgrader grade 03-heads"),
        *("python -m course.build my-course --units 02-masks", "make tests", "tfkit reed bert", "tfkit read bert --al"),
    ]
    assert all(problem(command, parsed_whole) for command in wrong)
    assert problem("autograder grade", unknown_option) is None and problem("autograder grade", parsed_whole)
    assert problem("autograder grade --jobs", unknown_option) == "no option --jobs"
    assert [*typed("```console\n$ a b  # c\nout\n$ d && e\n```\n")] == ["a b ", "d", "e"]
