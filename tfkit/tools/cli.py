"""`tfkit`: what there is and what is in it, at the terminal."""

from __future__ import annotations

import ast
from typing import Annotated

import typer

from .. import registry

app = typer.Typer(help="Readable reference models.", no_args_is_help=True, add_completion=False)


@app.callback()
def main() -> None:
    """Readable reference models."""


@app.command("list")
def list_architectures() -> None:
    """The architectures, one a line, each with the first line of its file."""
    for name, title in titles().items():
        typer.echo(f"{name:<16} {title}")


@app.command()
def family() -> None:
    """The tree of parents."""
    parents = {name: stated(doc, "Parent").split()[0].rstrip(":") for name, doc in docstrings().items()}

    def show(name: str, depth: int) -> None:
        typer.echo("  " * depth + name)
        for child in (child for child, parent in parents.items() if parent == name):
            show(child, depth + 1)

    for name in (name for name, parent in parents.items() if parent not in parents):
        show(name, 0)


@app.command()
def anatomy(
    name: Annotated[str, typer.Argument(help="an architecture, or a published size by its own name")],
    preset: Annotated[str | None, typer.Option(help="a size of that architecture")] = None,
    head: Annotated[str | None, typer.Option(help="such as seq2seq_lm")] = None,
    depth: Annotated[int, typer.Option(help="how deep to look")] = 3,
) -> None:
    """The tree of modules with shapes and parameter counts. No memory is taken for weights."""
    import torch

    from ..hub import from_config

    try:
        with torch.device("meta"):
            model = from_config(name, head=head, preset=preset)
    except (LookupError, ValueError) as error:
        typer.echo(f"tfkit anatomy: {error.args[0]}", err=True)
        raise typer.Exit(2) from None
    for path, module in model.named_modules():
        level = path.count(".") + 1 if path else 0
        if level <= depth:
            typer.echo(line(path, module, level))


def line(path: str, module, level: int) -> str:
    count = sum(p.numel() for p in module.parameters())
    shapes = " ".join(f"{n}{list(p.shape)}" for n, p in module.named_parameters(recurse=False))
    label = "  " * level + (path.rpartition(".")[2] or type(module).__name__)
    return f"{label:<32} {count:>13,}  {type(module).__name__:<20} {shapes}".rstrip()


def docstrings() -> dict[str, str]:
    """Architecture -> its file's docstring, read without importing it."""
    from importlib.util import find_spec

    found = {}
    for name, source in registry.sources().items():
        spec = find_spec(source.partition(":")[0])
        if spec is not None and spec.origin:
            with open(spec.origin, encoding="utf-8") as file:
                found[name] = ast.get_docstring(ast.parse(file.read())) or ""
    return found


def titles() -> dict[str, str]:
    return {name: doc.partition("\n")[0] for name, doc in docstrings().items()}


def stated(doc: str, what: str) -> str:
    """The text after a docstring's `Parent`, `Differs` or `Trained`; "none" where it says nothing."""
    lines = [row.removeprefix(what).strip() for row in doc.splitlines() if row.startswith(what + " ")]
    return lines[0] if lines else "none"
