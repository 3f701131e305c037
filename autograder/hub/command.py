"""`autograder hub up` and `autograder hub kubernetes`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from autograder.console import help_texts
from autograder.console.base import BadInput
from autograder.hub import class_file, config, kubernetes, needs
from autograder.hub.class_file import ClassFileError, HubClass
from tfkit_course.command_line import add_command

CLASS_DIR = "the folder with class.toml, which is made if --instructor is given"


def add_parsers(command: argparse.ArgumentParser) -> None:
    """Add the subcommands `up` and `kubernetes` to the parser."""
    commands = command.add_subparsers(required=True, metavar="COMMAND", title="commands")
    up = add_command(commands, "up", help_texts.HUB_COMMANDS["up"])
    _add_class(up)
    up.add_argument("--dry-run", action="store_true",
                    help="print the configuration and what is missing; write and start nothing")  # fmt: skip
    up.set_defaults(run=_up)
    cluster = add_command(commands, "kubernetes", help_texts.HUB_COMMANDS["kubernetes"])
    _add_class(cluster)
    cluster.add_argument("-o", "--output", type=Path, required=True, metavar="DIR",
                         help="the folder to write; files that it has are replaced")  # fmt: skip
    cluster.set_defaults(run=_kubernetes)


def _add_class(command: Any) -> None:
    command.add_argument("folder", type=Path, metavar="CLASS_DIR", help=CLASS_DIR)
    command.add_argument("--instructor", metavar="NAME", help="write class.toml, a new file: the instructor's account")
    command.add_argument("--students", nargs="*", default=[], metavar="NAME", help="with --instructor: their accounts")
    command.add_argument("--course", default="tfkit", metavar="NAME",
                         help="with --instructor: the course's name (default: %(default)s)")  # fmt: skip
    command.add_argument("--address", default="http://127.0.0.1:8000", metavar="URL",
                         help="with --instructor: where the Hub listens (default: %(default)s)")  # fmt: skip


def _class(arguments: argparse.Namespace) -> tuple[HubClass, str]:
    """The class that the folder has or the options describe, and in the second case the class.toml to write."""
    path = arguments.folder / class_file.FILE
    if not arguments.instructor:
        if arguments.students:
            raise BadInput(f"--students goes with --instructor; later, {path} has them")
        return class_file.read(arguments.folder), ""
    text = class_file.text(arguments.instructor, arguments.students, arguments.course, arguments.address)
    found = class_file.parse(class_file.load(text, str(path)), arguments.folder.resolve(), "the options")
    if path.exists():
        if class_file.read(arguments.folder) == found:  # the same command once more
            return found, ""
        raise BadInput(f"{path} is there already and says something else: change it, and leave --instructor out")
    return found, text


def _keep(folder: Path, text: str) -> None:
    if text:
        config.make_open(folder)
        path = folder / class_file.FILE
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


def _up(arguments: argparse.Namespace) -> int:
    try:
        found, text = _class(arguments)
    except ClassFileError as error:
        raise BadInput(str(error)) from error
    if arguments.dry_run:
        print(config.text(found), end="")
    lacks = needs.lacks(found)
    for line in needs.remarks(found):
        print(f"! {line}", file=sys.stderr)
    if lacks:
        raise BadInput("\n  ".join(["the Hub cannot be started:", *lacks]))
    if arguments.dry_run:
        return 0
    _keep(arguments.folder, text)
    path = config.write(found)
    _announce(found)
    os.chdir(found.folder / config.STATE)  # what the Hub and its proxy write without being asked lands there
    os.execv(sys.executable, [sys.executable, "-m", "jupyterhub", "-f", str(path)])
    raise AssertionError("not reached")


def _announce(found: HubClass) -> None:
    print(f"the Hub will answer at {found.hub.address}; Ctrl-C stops it, and the same command starts it again")
    for course in found.courses:
        folder = config.course_folder(course)
        if not Path(folder, "nbgrader_config.py").exists():
            build = shlex.join([sys.executable, "-m", "course.build", folder])
            print(f"next, {course.instructor} logs in and builds the course {course.name} in a terminal: {build}")
    sys.stdout.flush()  # before this process becomes the Hub


def _kubernetes(arguments: argparse.Namespace) -> int:
    try:
        found, text = _class(arguments)
    except ClassFileError as error:
        raise BadInput(str(error)) from error
    _keep(arguments.folder, text)
    for path in kubernetes.write(found, arguments.output):
        print(f"wrote {path}")
    return 0
