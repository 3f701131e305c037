"""A model of one's own through the course: `my_model/` beside the notebooks holds the parts that a student has built.

    from course import my_model
    my_model.add_unit("02")      # at the end of unit 02: collect the parts, train, and add a line to the table

    my_model.publish("page.html", prompt="Open")      # what it writes, on a page to send to a friend

The package that it writes is the student's: `from my_model import causal_mask`, and `my_model/__init__.py` to be read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from IPython import get_ipython

from autograder.feedback.translate import say
from course.files import write_if_new
from course.my_model import publishing
from course.my_model.collect import collect
from course.my_model.measure import LENGTH, measure, train
from course.my_model.package import ModelPart, load
from tfkit_lab.model_table import COUNTS, MEASURES, PACKAGE, TABLE, notebooks_folder, read_table

STEPS = 100
NEW = {
    1: "the recurrence",
    2: "attention under a causal mask",
    3: "several heads",
    4: "positions instead of the recurrence",
    5: "blocks with a feed-forward and norms",
    6: "your own loop: clipping, warm-up",
    7: "sampling: it writes",
    13: "rotary positions, RMS norm, SwiGLU",
}
NEEDED = {
    1: ["rnn.encode"],
    2: ["rnn.encode", "attention.scaled_dot_product", "masks.causal"],
    3: ["rnn.encode", "masks.causal", "attention.multi_head"],
    4: ["masks.causal", "attention.multi_head", "positions.sinusoidal"],
    5: ["masks.causal", "positions.sinusoidal", "transformer.encoder_layer"],
}
NEEDED[6] = [*NEEDED[5], "training.noam", "training.train_loop"]
NEEDED[7] = [*NEEDED[6], "decoding.sample"]
NEEDED[13] = [
    *("attention.scaled_dot_product", "masks.causal", "attention.split_heads", "training.noam", "training.train_loop"),
    *("decoding.sample", "modern.rms_norm", "modern.swiglu", "modern.rotary_halves"),
]  # what the model of each unit is made of


def add_unit(unit: str | int, steps: int = STEPS, root: Path | None = None) -> None:
    """Put the parts of `unit`, such as "02", into the model; train it, and print the table with a line for it.

    steps: of training; more make every line's model better. root: the folder of the notebooks; default: the one above
    this notebook's. Raises ValueError for a unit whose parts are not in the model, for fewer than 1 step, for a damaged
    table, and where a file that the course did not write is in the way.
    """
    digits = str(unit).partition("-")[0]
    number = int(digits) if digits.isdecimal() else 0
    if steps < 1:
        raise ValueError(f"steps is {steps}: the model needs at least one step of training")
    if number not in NEW:
        raise ValueError(f"unit {unit!r} puts nothing into the model; these do: {', '.join(map(_name, NEW))}")
    root = notebooks_here() if root is None else root
    parts = collect(root, cells_run_here())
    read_table(root / PACKAGE / TABLE)  # a damaged one is told before the training
    found = _measured(root, number, steps, parts)
    lines = _write_line(root / PACKAGE / TABLE, found)
    print(table(lines))
    _tell_origin(parts, number)
    if found["writes"]:
        print(f"It writes: {found['writes']}")


def publish(
    page: str | Path = "my-model.html", prompt: str = "", *, title: str = "", seed: int = 0, root: Path | None = None
) -> None:
    """Write your model as one page that needs no network: a text that it writes, which can be stepped through, and the
    table.

    The model is that of the table's last line, trained again as that line says. prompt: what the text begins with;
    seed: another one draws another text; title: of the page, and not your name unless you write it there; root: the
    folder of the notebooks. Raises ValueError before a unit has been put in, for a page whose name does not end in
    .html, for a prompt of several lines or of more bytes than the model reads, and for a damaged table; OSError where
    the page cannot be written.
    """
    target, root = Path(page), notebooks_here() if root is None else root
    if target.suffix != ".html":
        raise ValueError(f"{target} is no name of a page: let it end in .html")
    if "\n" in prompt or len(prompt.encode()) >= LENGTH:
        raise ValueError(f"the prompt has several lines, or {LENGTH} bytes or more: write a shorter one")
    lines = [line for line in read_table(root / PACKAGE / TABLE) if line["unit"] in NEW]
    if not lines:
        raise ValueError(f"{root / PACKAGE} has no model yet: call my_model.add_unit first, in any unit")
    parts, last = collect(root, cells_run_here()), lines[-1]
    used = [part for part in parts if part.exercise.id in NEEDED[last["unit"]]]
    loaded = load(root)
    model, _ = train(loaded, last["unit"], last["steps"])
    sections = [publishing.describe_model(last, used), publishing.html_table(lines, NEW)]
    text = publishing.write_page(target, loaded, model, title or say("My model"), prompt, seed, sections)
    print(text)
    print(say("{page} ({size} kB) is the whole page: open it, or send it to somebody.",
              page=target, size=target.stat().st_size // 1000))  # fmt: skip


def table(lines: list[dict[str, Any]]) -> str:
    """The table as text: a row for each unit whose parts have been put in."""
    head = f"{'unit':4}  {'new':37}  {'bits per byte':>13}  {'bytes a second':>14}  {'your parts':>10}  {'steps':>5}"
    rows = [
        f"{_name(one['unit']):4}  {NEW[one['unit']]:37}  {one['bits_per_byte']:13.2f}  "
        f"{one['bytes_per_second']:14,.0f}  {one['own']:>3} of {one['of']:>3}  {one['steps']:5}"
        for one in lines
        if one["unit"] in NEW
    ]
    return "\n".join([head, *rows])


def _measured(root: Path, unit: int, steps: int, parts: list[ModelPart]) -> dict[str, Any]:
    own = [part.exercise.id for part in parts if part.code is not None and part.exercise.id in NEEDED[unit]]
    counts = {"own": len(own), "of": len(NEEDED[unit])}
    return {"unit": unit, "steps": steps, **counts, **measure(load(root), unit, steps)}


def _write_line(path: Path, found: dict[str, Any]) -> list[dict[str, Any]]:
    """Add the line, in place of the unit's earlier one, and return all."""
    own = {key: found[key] for key in (*COUNTS, *MEASURES, "writes")}
    lines = [*(line for line in read_table(path) if line["unit"] != found["unit"]), own]
    lines.sort(key=lambda line: line["unit"])
    write_if_new(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return lines


def _tell_origin(parts: list[ModelPart], unit: int) -> None:
    for part in parts:
        if part.exercise.id in NEEDED[unit]:
            origin = "yours, as it stands now" if part.code is not None else f"the library’s, {part.reason}"
            print(f"  {part.exercise.title}: {origin}")


def _name(unit: int) -> str:
    return f"{unit:02}"


def notebooks_here() -> Path:
    """The folder of the notebooks: above that of a unit, where the kernel runs."""
    return notebooks_folder(Path.cwd())


def cells_run_here() -> list[str]:
    """The cells that the notebook has run, none outside a notebook."""
    shell = get_ipython()
    return [] if shell is None else list(shell.user_ns.get("In", []))
