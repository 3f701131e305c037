"""`python -m tools.playground [--steps 3500]` trains the model of the page to play with and writes the page's file."""

from __future__ import annotations

import json

from tokenizers import Tokenizer

from tfkit_course.command_line import make_parser

from . import GOLDEN, MODEL
from .pack import golden, load, pack


def main(arguments: list[str] | None = None) -> int:
    """Train the model and write the page's file and its golden numbers."""
    parser = make_parser("tools.playground", "Train the playground's model.")
    parser.add_argument(
        "--steps", type=int, default=3500, help="of 1,024 tokens each; 3,500 take about eight minutes on one core"
    )
    options = parser.parse_args(arguments)
    from .train import train  # the lessons are read, and the packages that run them

    model, tokenizer = train(options.steps)
    pack(model, tokenizer)
    write_golden(tokenizer)
    print(f"{MODEL}: {MODEL.stat().st_size / 1e6:.2f} MB")
    return 0


def write_golden(tokenizer: Tokenizer) -> None:
    """Write what tfkit computes with the page's numbers."""
    GOLDEN.write_text(json.dumps(golden(load(), tokenizer), ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
