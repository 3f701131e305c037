"""Random frames and random notebooks: the readers take them or say why not, and never fail otherwise.

`make test` tries some, `make test-slow` five hundred each, `make fuzz` a million: a night's worth.
"""

from __future__ import annotations

import json
import logging
import os

import nbformat
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grade import run
from autograder.nbgrader import rebuild, submission
from autograder.sandbox.client import UNREADABLE, _outputs
from autograder.sandbox.inside import wire

CASES = int(os.environ.get("FUZZ_CASES", "500"))
COUNTS = pytest.mark.parametrize("cases", [100, pytest.param(CASES, marks=[pytest.mark.slow, pytest.mark.timeout(0)])])


def fuzz(cases, strategy, law):
    """Holds `law` against so many draws of `strategy`, shrinks one that breaks it; how many it was true of."""
    true = 0

    @settings(max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def hold(drawn):
        nonlocal true
        law(drawn)
        true += 1

    hold()
    return true


# -- frames ------------------------------------------------------------------------------------------------------------
SIZES = st.integers(-3, 70) | st.sampled_from([1 << 31, 1 << 40, 1 << 63, -(1 << 70), True, None, 1.5, "1"])
ENTRY = st.tuples(st.sampled_from([*wire.DTYPES, "object", "", None, 3]), st.lists(SIZES, max_size=10) | SIZES, SIZES,
                  SIZES, st.sampled_from(["cpu", "cuda", "meta", "xpu", None, 0]),
                  st.none() | st.lists(SIZES, max_size=4)).map(list)  # fmt: skip
WHOLE = (st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
         | st.text(max_size=8))  # fmt: skip
LEAF = WHOLE | st.sampled_from(["\ud800"])  # half a character: JSON can spell it, no file can hold it
TAG = st.sampled_from(["l", "u", "d", "t", "i", "f", "y", "c", "h", "x"])
NODE = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(TAG, inner | SIZES | st.lists(inner, max_size=4)).map(lambda pair: {pair[0]: pair[1]})
        | st.lists(st.tuples(inner, inner).map(list), max_size=3).map(lambda pairs: {"d": pairs})
    ),
    max_leaves=12,
)
HEADER = st.fixed_dictionaries({}, optional={"v": NODE, "t": st.lists(ENTRY, max_size=4) | LEAF}) | NODE


def json_of(leaf):
    """Values as JSON has them, with such leaves."""
    return st.recursive(
        leaf | st.floats(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
        max_leaves=8,
    )


JSON = json_of(LEAF)
GOOD = [
    {"id": 1, "ok": [torch.arange(6.0).reshape(2, 3), torch.tensor([True, False]), torch.zeros(0, 4)]},
    {"id": 2, "err": ["exception", "no", "line 1"], "text": "\u00e9\U0001f600"},
    {"id": 3, "call": 0, "args": [(1, 2.5, "x")], "kwargs": {"k": torch.ones(1, dtype=torch.complex64)}},
]


def frame(value):
    head, *buffers = wire.WireEncoder().frame(value)
    return head[wire.HEAD.size :], b"".join(bytes(buffer) for buffer in buffers)


@st.composite
def bent(draw):
    """A good frame with a few bytes changed, cut out or put in."""
    header, body = (bytearray(part) for part in frame(draw(st.sampled_from(GOOD))))
    for _ in range(draw(st.integers(1, 4))):
        part = draw(st.sampled_from([header, body]))
        place = draw(st.integers(0, len(part)))
        part[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(header), bytes(body)


FRAMES = st.one_of(
    st.tuples(HEADER.map(lambda header: json.dumps(header).encode()), st.binary(max_size=80)),
    st.tuples(st.binary(max_size=60), st.binary(max_size=60)),
    bent(),
)


def parts(value):
    """Every value inside `value`."""
    yield value
    if isinstance(value, (list, tuple, dict)):
        for item in [*value, *(value.values() if isinstance(value, dict) else ())]:
            yield from parts(item)


PLAIN = (type(None), bool, int, float, str, list, tuple, dict, torch.Tensor, torch.dtype, wire.Ref)


def decodes_or_says_why(pair):
    header, body = pair
    try:
        value = wire.WireDecoder().value(bytearray(header), bytearray(body))
    except UNREADABLE:
        return
    for part in parts(value):
        assert type(part) in PLAIN
        str(part).encode()  # it can be written into a file
        if isinstance(part, torch.Tensor):
            assert part.device.type == "cpu" and part.numel() * part.element_size() <= len(body)
            part.sum()  # every value can be read


@COUNTS
def test_the_decoder(cases):
    assert fuzz(cases, FRAMES, decodes_or_says_why) >= cases


@COUNTS
def test_outputs_of_cells(cases):
    """What a box says that a cell displayed is a notebook's output or nothing; the decoder let no half text through."""

    def valid(value):
        outputs = [NotebookNode(output) for output in _outputs(value, 10_000)]
        nb = new_notebook(cells=[new_code_cell("x", id="x", outputs=outputs)])
        assert not outputs or nbformat.validator.isvalid(nb)
        nbformat.writes(nb).encode()  # what the file would hold

    kinds = st.sampled_from(["stream", "display_data", "execute_result", "error", "x", None, 1])
    names = st.sampled_from(["name", "text", "data", "metadata", "execution_count", "ename", "evalue", "traceback"])
    plain = json_of(WHOLE)
    strange = st.sampled_from([wire.Ref(0, "builtins.set"), torch.ones(2), torch.float32, float("nan"), (1,), b"x"])
    mimes = st.sampled_from(["text/plain", "text/html", "image/png", "application/json", "application/x+json"])
    data = st.dictionaries(mimes, st.text(max_size=5) | strange | plain, max_size=3)
    good = st.sampled_from(["stdout", "stderr", {}, ["line"], None, 3]) | data
    item = st.tuples(kinds, st.dictionaries(names, good | plain, max_size=5))
    shown = st.lists(item.map(lambda i: {"output_type": i[0], **i[1]}), max_size=3)
    assert fuzz(cases, shown | plain, valid) >= cases


def test_a_result_without_its_number_has_none():
    shown = _outputs([{"output_type": "execute_result", "data": {}, "metadata": {}}], 10_000)
    assert [output["execution_count"] for output in shown] == [None]


@pytest.mark.parametrize("count", [-1, True, 1.0, "1"])
def test_a_result_with_a_number_that_no_cell_has_is_not_shown(count):
    shown = {"output_type": "execute_result", "data": {}, "metadata": {}, "execution_count": count}
    assert _outputs([shown], 10_000) == []


# -- notebooks ---------------------------------------------------------------------------------------------------------
KNOWN = [
    rebuild.GradebookCell("setup", "code", "import torch", "c", True, False, False, False, None),
    rebuild.GradebookCell("solution-a", "code", "...", "c", False, False, True, False, None),
    rebuild.GradebookCell("check-a", "code", "check('a')", "c", True, True, False, False, 2.0),
]
NAME = st.sampled_from(["setup", "solution-a", "check-a", "new", "../x", ""]) | JSON
MARKS = st.fixed_dictionaries({}, optional={
    "grade_id": NAME, "points": JSON, "grade": JSON, "locked": JSON, "solution": JSON, "task": JSON,
    "schema_version": JSON, "cell_type": JSON, "checksum": JSON})  # fmt: skip
ROLE = st.sampled_from(["demo", "exercise", "check"]) | JSON
OURS = st.fixed_dictionaries({}, optional={"role": ROLE, "missing": JSON})
METADATA = st.fixed_dictionaries({}, optional={"nbgrader": MARKS | JSON, "tags": JSON, "tfkit": OURS | JSON})
CELL = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown", "raw"]), "metadata": METADATA, "source": st.text(max_size=9)},
    optional={"id": st.sampled_from(["a", "b", "setup"]) | JSON, "outputs": st.just([]) | JSON, "execution_count": JSON,
              "attachments": JSON, "extra": JSON},
)  # fmt: skip
NOTEBOOK = st.fixed_dictionaries(
    {"cells": st.lists(CELL | JSON, max_size=5), "nbformat": st.just(4) | JSON, "nbformat_minor": st.just(5) | JSON,
     "metadata": st.fixed_dictionaries({}, optional={"tfkit": JSON, "kernelspec": JSON, "nbgrader": JSON})}
)  # fmt: skip
VALID = st.lists(CELL.map(lambda c: {k: c[k] for k in ("cell_type", "metadata", "source")}), max_size=6).map(
    lambda cells: {"cells": [c | ({"outputs": [], "execution_count": None} if c["cell_type"] == "code" else {})
                             | {"id": f"c{n}"} for n, c in enumerate(cells)],
                   "metadata": {}, "nbformat": 4, "nbformat_minor": 5})  # fmt: skip
CELLS = [new_code_cell("x = 1", id="a"), new_markdown_cell("y", id="b")]
GOOD_FILE = nbformat.writes(new_notebook(cells=CELLS)).encode()


@st.composite
def bent_file(draw):
    data = bytearray(GOOD_FILE)
    place = draw(st.integers(0, len(data)))
    data[place : place + draw(st.integers(0, 20))] = draw(st.binary(max_size=5))
    return bytes(data)


FILES = st.one_of(VALID.map(json.dumps).map(str.encode), NOTEBOOK.map(json.dumps).map(str.encode),
                  JSON.map(json.dumps).map(str.encode), st.binary(max_size=60), bent_file())  # fmt: skip


@COUNTS
def test_the_notebook_reader(cases, tmp_path):
    path = tmp_path / "x.ipynb"
    builder = rebuild.RebuildFromGradebook()
    builder.log = logging.getLogger("quiet")
    builder.log.setLevel(logging.ERROR)  # else a million lines
    refused = []

    def reads_or_says_why(data):
        path.write_bytes(data)
        try:
            nb = submission.read(path)
        except submission.UnreadableNotebook as error:
            refused.append(str(error))
            nb = submission.empty(str(error))
        nb.cells = builder._cells(nb.cells, KNOWN, False)
        marked = [cell for cell in nb.cells if "nbgrader" in cell.metadata]
        assert sorted(cell.metadata.nbgrader.grade_id for cell in marked) == sorted(source.name for source in KNOWN)
        assert [cell.source for cell in marked if cell.metadata.nbgrader.grade] == ["check('a')"]
        assert len({cell.id for cell in nb.cells}) == len(nb.cells)
        assert nbformat.validator.isvalid(nb)
        assert all(isinstance(source.text, str) for source in run.sources_of(nb))

    assert fuzz(cases, FILES, reads_or_says_why) >= cases
    assert all(refused) and len(refused) < 0.97 * cases  # were all refused at the door, this would prove little
