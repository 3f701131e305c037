"""`tfkit`: what there is and what is in it, at the terminal. Each command imports what it needs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from tfkit_course import replace_unencodable
from tfkit_course.command_line import DONE, CommandHelp, add_command

from .. import registry
from ..family import differs, docstring_field, docstrings, parent, section
from . import compare, text_commands
from .flatten import flatten as flat
from .read import changes as page_changes
from .read import page
from .terminal import exit_status, make_console

LIST = CommandHelp(
    summary="list the architectures",
    description="List the architectures, one per line, each with the first line of its file.",
    exits=DONE,
)
FAMILY = CommandHelp(
    summary="show the family tree of the architectures",
    description="Show the tree of parent architectures, and how each child differs.",
    exits=DONE,
)
ANATOMY = CommandHelp(
    summary="show the modules of a model with shapes and parameter counts",
    description="Show the tree of modules with shapes and parameter counts, without allocating weights.",
    exits=DONE,
    examples=("tfkit anatomy bert --head masked_lm", "tfkit anatomy gpt2-xl --depth 2 --names hf"),
)
READ = CommandHelp(
    summary="show an architecture on one page",
    description="Show the architecture on one page, written to be understood; it needs only torch.",
    exits=DONE,
)
FLATTEN = CommandHelp(
    summary="print a model's real code as one file",
    description="""
    Print the model's real code as one file that needs only torch. `tfkit read` prints the page to learn from.
    """,
    exits=DONE,
    examples=("tfkit flatten roberta --head masked_lm -o roberta.py",),
)
DIFF = CommandHelp(
    summary="show how two architectures differ",
    description="Show how two architectures differ: their pages, then their configurations, modules and code.",
    exits=DONE,
)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command; exits with the status that the command's help describes."""
    replace_unencodable()
    arguments = make_tfkit_parser().parse_args((sys.argv[1:] if argv is None else argv) or ["--help"])
    sys.exit(exit_status(lambda: arguments.run(arguments), f"tfkit {arguments.command}"))


def make_tfkit_parser() -> argparse.ArgumentParser:
    """The parser of `tfkit` with all its commands; `command` is the name of the one that is called, `run` calls it."""
    parser = argparse.ArgumentParser(
        prog="tfkit",
        description="Readable reference models of transformers. `tfkit COMMAND --help` describes a command.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    add_command(commands, "list", LIST).set_defaults(run=list_architectures)
    add_command(commands, "family", FAMILY).set_defaults(run=family)
    _add_anatomy(add_command(commands, "anatomy", ANATOMY))
    _add_read(add_command(commands, "read", READ))
    _add_flatten(add_command(commands, "flatten", FLATTEN))
    _add_diff(add_command(commands, "diff", DIFF))
    text_commands.add_commands(commands)
    return parser


def _add_anatomy(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="an architecture, a published size, or a model's directory")
    command.add_argument("--preset", metavar="SIZE", help="a preset size of the architecture")
    command.add_argument("--head", help="the head, such as seq2seq_lm")
    command.add_argument("--depth", type=int, metavar="N", help="number of levels to show")
    command.add_argument(
        "--names",
        choices=("tfkit", "hf"),
        default="tfkit",
        help="names of parameters: tfkit's, or those of published files (default: %(default)s)",
    )
    command.set_defaults(run=anatomy)


def _add_read(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="an architecture")
    command.add_argument("--pager", action=argparse.BooleanOptionalAction, default=True,
                         help="on a terminal, show the text in a pager, or not")  # fmt: skip
    command.set_defaults(run=read)


def _add_flatten(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="an architecture, or a model's directory")
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help="file to write")
    command.add_argument("--with", action="append", default=[], dest="more", metavar="NAME",
                         help="another architecture that the model may be composed of (may be repeated)")  # fmt: skip
    command.add_argument("--head", help="only what this head needs, such as masked_lm")
    command.set_defaults(run=flatten)


def _add_diff(command: argparse.ArgumentParser) -> None:
    command.add_argument("one", metavar="ONE", help="an architecture")
    command.add_argument("other", metavar="OTHER", help="another")
    command.add_argument("--brief", action="store_true", help="leave out the code")
    command.set_defaults(run=diff)


def list_architectures(_: argparse.Namespace) -> None:
    """`tfkit list`."""
    table = Table.grid(padding=(0, 2))
    for name, doc in docstrings().items():
        table.add_row(Text(name, style="bold"), Text(doc.partition("\n")[0]))
    make_console().print(table)


def family(_: argparse.Namespace) -> None:
    """`tfkit family`."""
    docs = docstrings()
    parents = {name: parent(doc) for name, doc in docs.items()}

    def grow(tree: Tree, name: str) -> None:
        for child in (child for child, its in parents.items() if its == name):
            grow(tree.add(label(child, docs[child])), child)

    out = make_console()
    for name in (name for name, its in parents.items() if its not in parents):
        tree = Tree(label(name, docs[name]))
        grow(tree, name)
        out.print(tree)


def label(name: str, doc: str) -> Text:
    """A line of the tree: a name and its first difference, cut at the width of the terminal."""
    text = Text(name, style="bold", no_wrap=True, overflow="ellipsis")
    return text.append("  " + differs(doc), style="not bold dim")


def anatomy(options: argparse.Namespace) -> None:
    """`tfkit anatomy`. Raises LookupError, ValueError or OSError for a model that is not there."""
    from ..hub import from_config, from_hf_config
    from ..hub.loading import shapes_only
    from .anatomy import parts, published_parts, published_tensors

    depth = options.depth
    with shapes_only():
        if config_dict := described_by(options.name):
            model = from_hf_config(config_dict, options.head)
        else:
            model = from_config(options.name, head=options.head, preset=options.preset)
    if options.names == "hf":
        tensors = published_tensors(model, registry.load(registry.name_of(model)))
        rows = published_parts(type(model).__name__, tensors, 8 if depth is None else depth)
    else:
        rows = parts(type(model).__name__, model, 4 if depth is None else depth)
    columns = ["module", "parameters", "class", "weights"]
    classes = options.names == "tfkit"
    table = Table(*(column for column in columns if classes or column != "class"), box=None, padding=(0, 2, 0, 0))
    table.columns[1].justify = "right"
    for row in rows:
        shapes = row.shapes.replace("[", r"\[")
        table.add_row(row.name, f"{row.parameters:,}", *([row.kind] if classes else []), shapes)
    make_console().print(table)


def read(options: argparse.Namespace) -> None:
    """`tfkit read`. Raises LookupError for an architecture that has no page."""
    text, out = page(options.name), make_console()
    if not out.is_terminal:
        print(text, end="")
        return
    coloured = Syntax(text.rstrip(), "python", background_color="default")
    if not options.pager:
        out.print(coloured)
        return
    os.environ.setdefault("LESS", "FRX")  # as git does: colours, and no pager if everything fits on one screen
    with out.pager(styles=True):
        out.print(coloured)


def described_by(name: str) -> dict[str, Any] | None:
    """The config.json of a model's directory, or of a model from `tfkit get`; None for the name of an architecture.
    Raises FileNotFoundError for a model that was not fetched, or a directory without the file."""
    from ..hub import files, packages

    if name in registry.sources() or not (directory := packages.locate(name)).is_dir():
        return None
    return files.read_config(directory)


def flatten(options: argparse.Namespace) -> None:
    """`tfkit flatten`. Raises LookupError, ValueError or OSError for a model that is not there."""
    from ..hub import published

    config_dict = described_by(options.name)
    name = published.architecture(config_dict.get("model_type")) if config_dict else options.name
    text = flat(name, options.head, options.more)
    if options.output is None:
        print(text, end="")
    else:
        options.output.write_text(text, encoding="utf-8")
        print(f"{options.output}: {len(text.splitlines())} lines")


def diff(options: argparse.Namespace) -> None:
    """`tfkit diff`. Raises LookupError for an architecture that is not there."""
    one, other = options.one, options.other
    docs, out = docstrings(), make_console()
    for name in (one, other):
        registry.load(name)
    rewritten = [] if options.brief else compare.rewrite(one, other)
    tables = {"configuration": compare.settings, "modules": compare.modules}
    changes = {title: compare.changes(look(one), look(other)) for title, look in tables.items()}
    out.print(Text(f"{one} → {other}", style="bold"))
    if docstring_field(docs.get(other, ""), "Parent").startswith(one):
        out.print(Text(section(docs[other], "Differs")))
    pages = None if options.brief else page_changes(one, other)
    if pages is not None:
        show_difference(out, "page", pages)
    for title, rows in changes.items():
        table = Table(title, one, other, title_justify="left", box=None, padding=(0, 2, 0, 0))
        for key, a, b in rows:
            table.add_row(*(Text("–" if cell is None else cell) for cell in (key, a, b)))
        out.print("", table if rows else Text(f"{title}: the same", style="dim"), sep="\n")
    for title, text, language in rewritten:
        show_difference(out, title, text, language)


def show_difference(out: Console, title: str, text: str, language: str = "diff") -> None:
    """A titled piece of code or diff, or a line that says that there is none."""
    if not text:
        out.print("", Text(f"{title}: the same", style="dim"), sep="\n")
        return
    out.print("", Text(title, style="bold"), Syntax(text, language, background_color="default"), sep="\n")
