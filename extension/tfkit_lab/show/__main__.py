"""`python -m tfkit_lab.show MODEL [OTHER]`: the trace of an anatomy, for processes without torch."""

from __future__ import annotations

import json
import sys

from tfkit_course.command_line import make_parser
from tfkit_lab.show import anatomy


def main(arguments: list[str] | None = None) -> None:
    """The command line; a message on standard error if a model is unknown or cannot be built."""
    parser = make_parser(
        "tfkit_lab.show",
        """
        Print the trace of a model's anatomy as JSON: the tree of its modules with their shapes and numbers of
        parameters. With a second model, the trace shows what differs. The Jupyter server runs this in a process of its
        own, so that it need not load torch.
        """,
        exits={0: "done", 1: "a model is unknown or cannot be built; the reason is on standard error"},
        examples=("python -m tfkit_lab.show bert roberta",),
    )
    parser.add_argument("model", metavar="MODEL", help="an architecture or a published name, such as bert")
    parser.add_argument("other", metavar="OTHER", nargs="?", help="another one, to compare it with the first")
    options = parser.parse_args(arguments)
    names = [options.model, options.other] if options.other else [options.model]
    try:
        print(json.dumps(anatomy(*names).trace))
    except (LookupError, ValueError, TypeError) as error:
        sys.exit(str(error.args[0]))


if __name__ == "__main__":
    main()
