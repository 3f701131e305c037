"""What a recorded trace holds, asked for in Python: validation, tokens so far, one head's weights."""

from __future__ import annotations

import base64
import binascii
import functools
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).with_name("trace.schema.json")

Trace = Mapping[str, Any]


@functools.cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def validate(trace: Trace) -> None:
    """Raise ValueError, in one line, at the first thing in `trace` that the schema or the tree does not allow."""
    error = next(iter(_validator().iter_errors(trace)), None)
    if error is not None:
        raise ValueError(f"not a tfkit trace: at {error.json_path}: {error.message[:200]}")
    count = len(trace["nodes"])
    for place, node in enumerate(trace["nodes"]):
        if node["id"] != place or not -1 <= node["parent"] < place:
            raise ValueError(f"not a tfkit trace: nodes[{place}] must have id {place} and an earlier parent")
    told = (i for step in trace["steps"] for key in ("live", "chosen", "finished") for i in step[key])
    used = [*trace["path"], trace["best"], *told]
    if any(i >= count for i in used):
        raise ValueError(f"not a tfkit trace: node {max(used)} is named, but there are {count}")
    for name, maps in trace.get("attention", {}).items():
        weights(maps, 0, 0, name)


def focus(trace: Trace, step: int) -> int:
    """The live node a step is told about: the best path's where it lives, else the first."""
    live = trace["steps"][step]["live"] if trace["steps"] else []
    return next((node for node in live if node in trace["path"]), live[0] if live else 0)


def tokens_so_far(trace: Trace, node: int) -> list[str]:
    """The prompt, then the tokens on the way from the root to `node` (the root is the prompt's last token)."""
    chain = []
    while node >= 0:
        chain.append(trace["nodes"][node]["token"])
        node = trace["nodes"][node]["parent"]
    chain.reverse()
    return [*trace["prompt"], *chain[1:]] if trace["prompt"] else chain


def weights(maps: Mapping[str, Any], layer: int, head: int, name: str = "attention") -> list[bytes]:
    """One head's map as rows of bytes (255 is weight 1; a triangle's rows grow by one). ValueError if damaged."""
    rows, columns = maps["rows"], maps["cols"]
    lengths: Sequence[int] = range(1, rows + 1) if maps["triangle"] else [columns] * rows
    size = sum(lengths)
    expected = size * maps["layers"] * maps["heads"]
    try:
        packed = zlib.decompressobj().decompress(base64.b64decode(maps["data"], validate=True), expected + 1)
    except (zlib.error, binascii.Error) as error:
        raise ValueError(f"not a tfkit trace: attention.{name}.data: {error}") from error
    if len(packed) != expected:
        sizes = f"{len(packed)} bytes, its shape needs {expected}"
        raise ValueError(f"not a tfkit trace: attention.{name}.data holds {sizes}")
    at = (layer * maps["heads"] + head) * size
    found = []
    for length in lengths:
        found.append(packed[at : at + length])
        at += length
    return found
