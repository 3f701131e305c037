"""`tfkit`: what there is and what is in it, at the terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from tfkit_course import replace_unencodable

from .. import registry
from ..family import differs, docstring_field, docstrings, parent, section
from . import compare, text_commands
from .flatten import flatten as flat
from .read import changes as page_changes
from .read import page
from .terminal import exit_with_error, make_console

app = typer.Typer(help="Readable reference models of transformers.", no_args_is_help=True, add_completion=False)
app.add_typer(text_commands.app)
NAME = typer.Argument(help="an architecture")


@app.callback()
def main() -> None:
    """Readable reference implementations of transformer models."""
    replace_unencodable()


@app.command("list")
def list_architectures() -> None:
    """List the architectures, one per line, each with the first line of its file."""
    table = Table.grid(padding=(0, 2))
    for name, doc in docstrings().items():
        table.add_row(Text(name, style="bold"), Text(doc.partition("\n")[0]))
    make_console().print(table)


@app.command()
def family() -> None:
    """Show the tree of parent architectures, and how each child differs."""
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


@app.command()
def anatomy(
    name: Annotated[str, typer.Argument(help="an architecture, a published size, or a model's directory")],
    preset: Annotated[str | None, typer.Option(help="a preset size of the architecture")] = None,
    head: Annotated[str | None, typer.Option(help="the head, such as seq2seq_lm")] = None,
    depth: Annotated[int | None, typer.Option(help="number of levels to show")] = None,
    names: Annotated[
        str, typer.Option(help="names of parameters: tfkit, or hf for those of published files")
    ] = "tfkit",
) -> None:
    """Show the tree of modules with shapes and parameter counts, without allocating weights."""
    from ..hub import from_config, from_hf_config
    from ..hub.loading import shapes_only
    from .anatomy import parts, published_parts, published_tensors

    try:
        if names not in ("tfkit", "hf"):
            raise ValueError(f"--names is tfkit or hf, not {names!r}")
        with shapes_only():
            if config_dict := described_by(name):
                model = from_hf_config(config_dict, head)
            else:
                model = from_config(name, head=head, preset=preset)
        if names == "hf":
            tensors = published_tensors(model, registry.load(registry.name_of(model)))
            rows = published_parts(type(model).__name__, tensors, 8 if depth is None else depth)
        else:
            rows = parts(type(model).__name__, model, 4 if depth is None else depth)
    except (LookupError, ValueError, OSError) as error:
        raise exit_with_error("anatomy", error) from None
    columns = ["module", "parameters", "class", "weights"]
    table = Table(
        *(column for column in columns if names == "tfkit" or column != "class"), box=None, padding=(0, 2, 0, 0)
    )
    table.columns[1].justify = "right"
    for row in rows:
        shapes = row.shapes.replace("[", r"\[")
        table.add_row(row.name, f"{row.parameters:,}", *([row.kind] if names == "tfkit" else []), shapes)
    make_console().print(table)


@app.command()
def read(
    name: Annotated[str, NAME],
    pager: Annotated[bool, typer.Option(help="on a terminal, show the text in a pager")] = True,
) -> None:
    """Show the architecture on one page, written to be understood; it needs only torch."""
    try:
        text = page(name)
    except LookupError as error:
        raise exit_with_error("read", error) from None
    out = make_console()
    if not out.is_terminal:
        typer.echo(text, nl=False)
        return
    coloured = Syntax(text.rstrip(), "python", background_color="default")
    if not pager:
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


@app.command()
def flatten(
    name: Annotated[str, typer.Argument(help="an architecture, or a model's directory")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="file to write")] = None,
    more: Annotated[
        list[str] | None, typer.Option("--with", help="another architecture that the model may be composed of")
    ] = None,
    head: Annotated[str | None, typer.Option("--head", help="only what this head needs, such as masked_lm")] = None,
) -> None:
    """Print the model's real code as one file that needs only torch. `tfkit read` prints the page to learn from."""
    from ..hub import published

    try:
        if config_dict := described_by(name):
            name = published.architecture(config_dict.get("model_type"))
        text = flat(name, head, more or ())
    except (LookupError, ValueError, OSError) as error:
        raise exit_with_error("flatten", error) from None
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        typer.echo(f"{output}: {len(text.splitlines())} lines")


@app.command()
def diff(
    one: Annotated[str, NAME],
    other: Annotated[str, NAME],
    brief: Annotated[bool, typer.Option(help="leave out the code")] = False,
) -> None:
    """Show how two architectures differ: their pages, then their configurations, modules and code."""
    docs, out = docstrings(), make_console()
    try:
        for name in (one, other):
            registry.load(name)
        rewritten = [] if brief else compare.rewrite(one, other)
        tables = {"configuration": compare.settings, "modules": compare.modules}
        changes = {title: compare.changes(look(one), look(other)) for title, look in tables.items()}
    except (LookupError, ValueError) as error:
        raise exit_with_error("diff", error) from None
    out.print(Text(f"{one} → {other}", style="bold"))
    if docstring_field(docs.get(other, ""), "Parent").startswith(one):
        out.print(Text(section(docs[other], "Differs")))
    pages = None if brief else page_changes(one, other)
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
