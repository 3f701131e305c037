"""`python -m course.my_model [FOLDER]`: write my_model/ beside the notebooks in FOLDER, and put units' parts in."""

from __future__ import annotations

import sys
from pathlib import Path

from course import my_model
from course.my_model.collect import collect
from course.my_model.package import PACKAGE
from tfkit_course.command_line import make_parser


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = make_parser(
        "course.my_model",
        "Write the package my_model/ beside the notebooks: the parts that have passed their check are your own, as "
        "they stand now, and the others are the library's. With --unit train the model that has the parts of that "
        "unit, and add a line to the table.",
        examples=["python -m course.my_model course", "python -m course.my_model course --unit 05 --steps 300"],
        exits={
            0: "the package was written",
            1: "a unit puts nothing into the model, the table is damaged, or a file of your own is in the way",
        },
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), metavar="FOLDER",
                        help="the folder of the notebooks (default: this one)")  # fmt: skip
    parser.add_argument("--unit", action="append", default=[], metavar="NN", help="put in the parts up to this unit")
    parser.add_argument("--steps", type=int, default=my_model.STEPS, help="steps of training (default: %(default)s)")
    given = parser.parse_args(arguments)
    try:
        if not given.unit:
            parts = collect(given.folder)
            own = sum(part.code is not None for part in parts)
            print(f"wrote {given.folder / PACKAGE}: {own} of {len(parts)} parts are yours")
        for unit in given.unit:
            my_model.add_unit(unit, given.steps, given.folder)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
