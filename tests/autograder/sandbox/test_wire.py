"""The frame format: what goes in comes out, and nothing else is believed."""

from __future__ import annotations

import json
import math
import types
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.sandbox.inside import wire
from autograder.sandbox.inside.agent import leaves


def through(value, **options):
    head, *buffers = wire.WireEncoder().frame(value)
    size, body_size = wire.HEAD.unpack(head[: wire.HEAD.size])
    body = bytearray(b"".join(bytes(b) for b in buffers))
    assert len(body) == body_size and len(head) == wire.HEAD.size + size
    return wire.WireDecoder(**options).value(head[wire.HEAD.size :], body)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(PLAIN)
def test_plain_values_survive(value):
    try:
        back = through(value)
    except wire.WireError as error:
        assert "deep" in str(error)
        return
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize("code", list(wire.DTYPES))
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 5), (2, 3, 4)])
def test_tensors_survive(code, shape):
    dtype = getattr(torch, wire.DTYPES[code])
    value = (torch.arange(math.prod(shape)).reshape(shape) % 2).to(dtype)
    back = through([value, value])
    assert back[0] is back[1] and back[0].dtype == dtype and torch.equal(back[0], value)


ARRAYS = [np.arange(6.0).reshape(2, 3)[:, ::-1], np.array(3, ">i4"), np.float32(1.5), np.int64(2),
          np.array([True, False]), np.zeros((0, 2), np.complex64)]  # fmt: skip


@pytest.mark.parametrize("value", ARRAYS)
def test_arrays_survive(value):
    back = through({"a": [value]})["a"][0]
    assert type(back) is type(value[()]) and back.dtype == value.dtype.newbyteorder("=") and np.array_equal(back, value)


@pytest.mark.parametrize("value", [np.array(["a"]), np.array([object()]), np.zeros(2, "u4"), np.datetime64(1, "s")])
def test_arrays_of_other_things_are_refused(value):
    with pytest.raises(wire.WireError, match="an array of .* cannot be sent"):
        through(value)


def test_nan_and_infinity():
    assert math.isnan(through(math.nan)) and through(-math.inf) == -math.inf


@pytest.mark.parametrize("header, body", [
    ({"v": 1}, b""),
    ({"v": {"t": 0}, "t": []}, b""),
    ({"v": {"t": 0}, "t": [["f32", [1], 0, 8, "cpu", None]]}, bytes(8)),
    ({"v": {"t": 0}, "t": [["f32", [2], 0, 8, "cpu", None]]}, bytes(4)),
    ({"v": {"t": 0}, "t": [["f32", [-2], 0, 8, "cpu", None]]}, bytes(8)),
    ({"v": {"t": 0}, "t": [["object", [1], 0, 8, "cpu", None]]}, bytes(8)),
    ({"v": {"t": 0}, "t": [["f32", [1], 0, 4, "meta", None]]}, bytes(8)),
    ({"v": {"t": 0}, "t": [["f32", [True], 0, 4, "cpu", None]]}, bytes(8)),
    ({"v": 0, "t": [["f32", [2], 0, 8, "cpu", None], ["f32", [2], 0, 8, "cpu", None]]}, bytes(8)),
    ({"v": {"d": [[{"l": []}, 1]]}, "t": []}, b""),
    ({"v": {"pickle": "x"}, "t": []}, b""),
    ({"v": {"n": 0}, "t": []}, b""),
    ({"v": {"n": 0}, "t": [["bf16", [2], 0, 4, "cpu", None]]}, bytes(4)),
    ({"v": {"c": 0}, "t": []}, b""),
    ({"v": "\ud800", "t": []}, b""),
    ({"v": {"h": [1, "\udfff"]}, "t": []}, b""),
])  # fmt: skip
def test_lies_are_refused(header, body):
    with pytest.raises(wire.WireError):
        wire.WireDecoder().value(json.dumps(header).encode(), bytearray(body))


def test_bools_are_made_of_truth_only():
    header = {"v": {"t": 0}, "t": [["bool", [3], 0, 3, "cpu", None]]}
    back = wire.WireDecoder().value(json.dumps(header).encode(), bytearray([0, 1, 7]))
    assert back.view(torch.uint8).tolist() == [0, 1, 1]


def test_strides_of_strangers_do_not_count():
    value = torch.arange(6.0).reshape(2, 3).T
    assert through(value, trusted=True).stride() == value.stride()
    assert through(value).is_contiguous()
    assert torch.equal(through(value, trusted=True), value)


class Pair(NamedTuple):
    keys: torch.Tensor
    length: int


@dataclass
class Held:
    keys: torch.Tensor
    inside: object


def out_and_in(value):
    """What a grader gets of an object in a box, and what the box gets of it when it is handed back."""
    kept = []

    def keep(thing):
        kept.append(thing)
        return wire.Ref(len(kept) - 1, type(thing).__name__)

    seen = decoded(wire.WireEncoder(keep, with_names=True).frame(value))
    return seen, decoded(wire.WireEncoder().frame([seen]), trusted=True, ref=lambda ref: kept[ref.number])[0]


def decoded(frame, **options):
    head, *buffers = frame
    return wire.WireDecoder(**options).value(head[wire.HEAD.size :], bytearray(b"".join(bytes(b) for b in buffers)))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (Pair(torch.ones(2), 3), wire.NamedTupleCopy),
        (OrderedDict(b=torch.ones(2), a=1), wire.DictCopy),
        (types.MappingProxyType({"b": torch.ones(2)}), wire.DictCopy),
        (Held(torch.ones(2), 3), wire.MappingCopy),
    ],
    ids=["named tuple", "ordered", "any mapping", "dataclass"],
)
def test_structures_of_other_types_keep_them(value, kind):
    seen, back = out_and_in(value)
    assert type(seen) is kind and back is value
    assert [type(part) for part in wire.parts(seen)] == [type(part) for part in wire.parts(value)]


def test_fields_can_be_read_by_name():
    seen, _ = out_and_in(Pair(torch.ones(2), 3))
    assert seen.length == 3 and seen == (seen.keys, 3) and seen.map_items(lambda part: part).length == 3
    held, _ = out_and_in(Held(torch.ones(2), 5))
    assert held.inside == held["inside"] == 5 and not isinstance(held, dict)
    with pytest.raises(AttributeError):
        _ = seen.other


def test_what_holds_itself_is_an_object_like_any_other():
    held = Held(torch.ones(2), None)
    held.inside = held
    seen, back = out_and_in(held)
    assert isinstance(seen.inside, wire.Ref) and back is held


def test_leaves_come_by_key_whatever_order_they_were_written_in():
    one, two = torch.ones(1), torch.zeros(1)
    trees = {"a": one, "b": two}, {"b": two, "a": one}, wire.MappingCopy({"b": two, "a": one})
    found = [list(leaves(tree)) for tree in trees]
    assert all(first is one and second is two for first, second in found)


@pytest.mark.parametrize(
    "node",
    [
        ["row", {"h": [0, "x"]}, ["a"], {"u": []}],
        ["row", {"h": [0, "x"]}, [1], {"u": [1]}],
        ["row", 3, [], {"u": []}],
        ["table", {"h": [0, "x"]}, [], {"l": []}],
        ["other", {"h": [0, "x"]}, [], {"d": []}],
        ["row", {"h": [0, "x"]}, []],
    ],
)
def test_no_other_structure_is_believed(node):
    with pytest.raises(wire.WireError):
        wire.WireDecoder().value(json.dumps({"v": {"n": node}, "t": []}).encode(), bytearray())


@pytest.mark.parametrize("dims", [1, 2])
def test_one_number_that_was_expanded_is_sent(dims):
    """Its strides are 0, and torch calls it contiguous: the gradient of a sum over one element is such a tensor."""
    value = torch.tensor([7.0, 3.0])[1].expand([1] * dims)
    parts = wire.WireEncoder().frame({"a": value})
    assert bytes(parts[-1]) == torch.tensor(3.0).numpy().tobytes()
