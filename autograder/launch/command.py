"""`autograder link`: a link to a unit's notebook, and its QR code for a lecture."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from autograder.console import help_texts
from autograder.console.base import BadInput, add_assignment, add_course, lack
from autograder.launch import links
from autograder.settings.course_file import CourseFileError
from tfkit_course.command_line import add_command


def add(commands: Any) -> None:
    """Add the command to the parser."""
    link = add_command(commands, "link", help_texts.LINK)
    add_course(link)
    add_assignment(link)
    where = link.add_mutually_exclusive_group(required=True)
    where.add_argument("--hub", metavar="URL", help="a JupyterHub with nbgitpuller, such as https://hub.example.edu")
    where.add_argument("--tab", metavar="URL", help="the site that `course.build --lite` wrote")
    where.add_argument("--lti", metavar="HUB_URL", help="for the LMS: launch URL, custom parameters and content item")
    link.add_argument("--qr", type=Path, metavar="FILE.svg", help="also write a QR code of the link, a new file")
    link.set_defaults(run=_link)


def _link(arguments: argparse.Namespace) -> int:
    try:
        found = links.links(arguments.course, arguments.assignment)
        if arguments.lti:
            item = found.lti(arguments.lti)
            if arguments.qr:
                raise BadInput("--qr is for a link that a class opens: an LTI launch begins in the LMS")
            print(links.lti_text(item))
            return 0
        link = found.hub(arguments.hub) if arguments.hub else found.tab(arguments.tab)
    except (links.LinkError, CourseFileError) as error:
        raise BadInput(str(error)) from error
    print(link)
    if arguments.qr:
        _write_code(link, arguments.qr, arguments.assignment)
        print(f"wrote {arguments.qr}")
    return 0


def _write_code(link: str, path: Path, title: str) -> None:
    """A QR code that is read from the last row: medium error correction, four modules of white around it."""
    try:
        import segno
    except ImportError as error:
        raise BadInput(lack("link --qr", error, "qr")) from error
    if path.suffix != ".svg":
        raise BadInput(f"{path} must end in .svg: a code that is scaled stays sharp")
    try:
        with path.open("xb") as file:
            code = segno.make(link, error="m", micro=False)
            code.save(file, kind="svg", omitsize=True, border=4, dark="#000", light="#fff", title=f"{title}: {link}")
    except FileExistsError:
        raise BadInput(f"{path} is there already: name a new file") from None
