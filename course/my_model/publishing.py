"""Writes a student's model as one page: what it writes, byte by byte in the stepper, which of its parts are theirs, its
table.

The page loads nothing and needs no server, so that it can be sent to a friend. It shows no code of an exercise.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import Tensor, nn

from autograder.feedback.translate import language, say, title_of
from course.my_model.measure import LENGTH, draw_line, next_logits, text_of
from course.my_model.package import ModelPart
from tfkit.decode import record_search
from tfkit_lab import Stepper
from tfkit_lab.page import page

MAX_NEW_BYTES = 48  # that the model adds: as many as a reader may want to step through
STYLE = """<style>
table { border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto }
td, th { text-align: left; font-weight: 400; padding: 3px 14px 3px 0; border-bottom: 1px solid #8894a166 }
td:not(:nth-child(2)) { white-space: nowrap }
i { display: inline-block; height: .7em; width: calc(var(--share) * 6em); border-radius: 2px;
  background: var(--tfk-accent, #0f62bd) }
blockquote { margin: 1em 0; padding: 12px 16px; border-left: 4px solid var(--tfk-accent, #0f62bd);
  font: 18px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap }
blockquote b { font-weight: 400; text-decoration: underline; text-decoration-thickness: 1px }
@media (max-width: 480px) { i { width: calc(var(--share) * 2em) } td, th { padding-right: 8px; font-size: 13px } }
</style>"""


def write_page(
    target: Path, parts: ModuleType, model: nn.Module, title: str, prompt: str, seed: int, sections: Sequence[str]
) -> str:
    """Let the model go on from the prompt, and write the page to `target` -> the text.

    sections: HTML that stands between the text and the stepper. Raises OSError where the page cannot be written.
    """
    drawn: list[Tensor] = []

    def search(step: Any) -> Tensor:
        drawn.append(draw_line(parts, step, prompt, MAX_NEW_BYTES, seed))
        return drawn[0]

    shown = {"token": byte_name, "title": prompt or title, "name": "sample_token"}
    stepper = Stepper(record_search(search, lambda ids: next_logits(model, ids), **shown))  # type: ignore[arg-type]
    text = text_of(drawn[0])
    before = "\n".join([STYLE, f"<h1>{html.escape(title)}</h1>", _quote(text, prompt), *sections, _guide()])
    whole = page(title, [stepper.state()], {"decoding": stepper.script}, [before], language())
    target.write_text(whole, encoding="utf-8")
    return text


def byte_name(value: int) -> str:
    """How the stepper calls a byte: by its letter where it is one by itself."""
    return "↵" if value == 10 else chr(value) if 32 <= value < 127 else f"<0x{value:02X}>"


def describe_model(line: Mapping[str, Any], used: Sequence[ModelPart]) -> str:
    """What the model is, in a paragraph, and the parts that it is made of. line: its own in the table."""
    said = say(
        "A language model that predicts bytes. It is made of {parts} parts of a course, {own} of them my own code. "
        "After {steps} steps of training it needs {bits} bits for each byte of a text that it has not seen, where "
        "guessing needs 8.",
        parts=len(used), own=sum(one.code is not None for one in used),
        steps=line["steps"], bits=f"{line['bits_per_byte']:.2f}",
    )  # fmt: skip
    own, library = say("my own"), say("the library’s")
    names = [f"{html.escape(title_of(one.exercise))} ({library if one.code is None else own})" for one in used]
    return f"<p>{html.escape(said)}</p><p>{' · '.join(names)}</p>"


def html_table(lines: Sequence[Mapping[str, Any]], new: Mapping[int, str]) -> str:
    """The table as HTML, a row for each unit. new: what each one puts in."""
    names = [say("unit"), say("new"), say("bits per byte"), say("bytes a second"), say("my parts")]
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    most = max((line["bits_per_byte"] for line in lines), default=1.0)
    rows = []
    for line in lines:
        bar = f'<i aria-hidden="true" style="--share:{line["bits_per_byte"] / most:.3f}"></i>'
        cells = [
            html.escape(say(new[line["unit"]])),
            f"{line['bits_per_byte']:.2f} {bar}",
            f"{line['bytes_per_second']:,.0f}",
            f"{line['own']} / {line['of']}",
        ]
        rows.append(f'<tr><th scope="row">{line["unit"]:02}</th>' + "".join(f"<td>{one}</td>" for one in cells))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _quote(text: str, prompt: str) -> str:
    """What the model wrote, with the prompt underlined."""
    return f"<blockquote><b>{html.escape(prompt)}</b>{html.escape(text.removeprefix(prompt))}</blockquote>"


def _guide() -> str:
    said = say(
        "Below, the model writes this text again. Step through it with its buttons or the arrow keys: at each byte you "
        "see what else it might have written, and how likely that was. It reads the last {length} bytes.",
        length=LENGTH,
    )
    return f"<p>{html.escape(said)}</p>"
