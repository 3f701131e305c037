"""Rows of a checkpoint's name map that units 08 to 12 leave open: what is missing is told, so is what is right."""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Mapping

import pytest
import torch

import course
import tfkit
from course.notebook import source_notebook
from tfkit.models import bert, dpr, gpt2, longformer, t5
from tfkit.namemap import FusedTensors

TABLES: dict[str, tuple[str, Mapping[str, str | FusedTensors]]] = {
    "08-encoders": ("MY_ROWS", bert.BODY),
    "09-decoders": ("MINE", gpt2.HF.table),
    "10-seq2seq-objectives": ("MY_ROWS", t5.BODY),
    "11-long-and-efficient": ("MY_ROWS", longformer.HF.table),
    "12-images-retrieval-generation": ("MINE", dpr.HF.table),
}


def cell(unit: str) -> str:
    """The code of the unit's cell that leaves rows open."""
    (folder,) = [folder for folder in course.units() if folder.name == unit]
    name = TABLES[unit][0]
    (found,) = [c.source for c in source_notebook(folder).cells if f"\n{name} = {{" in c.source]
    return found


def rows(source: str, name: str) -> dict[str, str]:
    """What stands in the cell's table."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"{name} is nowhere")


def right(table: Mapping[str, str | FusedTensors], theirs: str) -> str:
    """Our name or names; a row of layer 0 is written out."""
    numbered = theirs.replace(".0.", ".{}.", 1)
    for template in (theirs, numbered, f"question_encoder.bert_model.{numbered}"):
        if template in table:
            ours = table[template]
            ours = ours if isinstance(ours, str) else " ".join(ours)
            return ours if theirs == template else ours.replace("{}", "0")
    raise AssertionError(f"no row for {theirs}")


def filled(source: str, name: str, answers: dict[str, str]) -> str:
    """The cell with these answers in its table."""
    before, _, rest = source.partition(f"{name} = {{")
    return f"{before}{name} = {answers}\n" + rest.partition("}\n")[2]


def run(source: str) -> str:
    torch.manual_seed(0)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(source, {"torch": torch, "tfkit": tfkit})
    return out.getvalue()


def test_each_unit_from_08_to_12_leaves_some():
    assert list(TABLES) == [folder.name for folder in course.units() if "08" <= folder.name < "13"]


@pytest.mark.parametrize("unit", TABLES)
def test_open_rows_are_told_and_right_ones_are_right(unit):
    source, (name, table) = cell(unit), TABLES[unit]
    asked = rows(source, name)
    assert len(asked) >= 3 and all(set(ours) <= {"?", " "} for ours in asked.values())
    untouched = run(source)
    assert "not yet" in untouched or "not in the map" in untouched
    assert "found a place" not in untouched and " right" not in untouched
    answers = {theirs: right(table, theirs) for theirs in asked}
    done = run(filled(source, name, answers))
    assert "not yet" not in done
    assert "The copy gives the same numbers" in done or done.count(" right") == len(asked)


@pytest.mark.parametrize("unit", [unit for unit, (name, _) in TABLES.items() if name == "MY_ROWS"])
def test_two_that_are_exchanged_are_told(unit):
    """Of like shapes, as in the units' tables: nothing but the numbers can tell."""
    source, (name, table) = cell(unit), TABLES[unit]
    answers = {theirs: right(table, theirs) for theirs in rows(source, name)}
    first, second = [theirs for theirs in answers if LIKE[unit] in theirs][:2]
    answers[first], answers[second] = answers[second], answers[first]
    done = run(filled(source, name, answers))
    assert "two are exchanged" in done


LIKE = {"08-encoders": ".attention.", "10-seq2seq-objectives": "Attention.", "11-long-and-efficient": "_global"}
