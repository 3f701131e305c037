"""Access to a recorded trace from Python: validation, tokens so far, one head's weights."""

from __future__ import annotations

import base64
import binascii
import functools
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parent / "schemas"  # one per kind of trace; the front end validates with the same files

Trace = Mapping[str, Any]


@functools.cache
def _validator(file: Path) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(file.read_text(encoding="utf-8")))


def validate(trace: Trace, schemas: Path = SCHEMAS) -> None:
    """Raise ValueError, in one line, at the first thing in `trace` that the schema of its kind, a file in `schemas`, or
    the tree of a decoding run does not allow."""
    kinds = sorted(file.stem for file in schemas.glob("*.json"))
    kind = trace.get("kind")
    if kind not in kinds:
        raise ValueError(f"not a tfkit trace: at $.kind: {kind!r} is not one of {', '.join(kinds)}")
    error = next(iter(_validator(schemas / f"{kind}.json").iter_errors(trace)), None)
    if error is not None:
        raise ValueError(f"not a tfkit trace: at {error.json_path}: {error.message[:200]}")
    if kind == "decoding":
        _check_tree(trace)


def with_draft_tokens(trace: Trace) -> Trace:
    """The trace with the draft tokens under their name: recordings made before it was chosen call them `guesses`."""
    steps = trace.get("steps")
    if not isinstance(steps, list) or not any(map(_has_old_draft, steps)):
        return trace
    return {**trace, "steps": [_rename_draft(step) if _has_old_draft(step) else step for step in steps]}


def _has_old_draft(step: Any) -> bool:
    draft = step.get("draft") if isinstance(step, Mapping) else None
    return isinstance(draft, Mapping) and "guesses" in draft


def _rename_draft(step: Trace) -> Trace:
    draft = {"draft_tokens" if name == "guesses" else name: value for name, value in step["draft"].items()}
    return {**step, "draft": draft}


def _check_tree(trace: Trace) -> None:
    count = len(trace["nodes"])
    for index, node in enumerate(trace["nodes"]):
        if node["id"] != index or not -1 <= node["parent"] < index:
            raise ValueError(f"not a tfkit trace: nodes[{index}] must have id {index} and an earlier parent")
        if node.get("place", -1) >= len(trace["prompt"]):
            raise ValueError(
                f"not a tfkit trace: nodes[{index}] is at place {node['place']}, but the prompt has "
                f"{len(trace['prompt'])} tokens"
            )
    indices = (i for step in trace["steps"] for key in ("live", "chosen", "finished") for i in step[key])
    used = [*trace["path"], trace["best"], *indices]
    if any(i >= count for i in used):
        raise ValueError(f"not a tfkit trace: node {max(used)} is named, but there are {count}")
    for name, maps in trace.get("attention", {}).items():
        weights(maps, 0, 0, name)


def focus(trace: Trace, step: int) -> int:
    """The live node that a step describes: that of the best path if it is live, otherwise the first."""
    live = trace["steps"][step]["live"] if trace["steps"] else []
    return next((node for node in live if node in trace["path"]), live[0] if live else 0)


def tokens_so_far(trace: Trace, node: int) -> list[str]:
    """The prompt, then the tokens on the way from the root to `node` (the root is the prompt's last token); those that
    have a place in the prompt stand there."""
    chain = []
    while node >= 0:
        chain.append(trace["nodes"][node])
        node = trace["nodes"][node]["parent"]
    chain.reverse()
    text = list(trace["prompt"])
    for made in chain[1:] if text else chain:
        place = made.get("place", len(text))
        text[place : place + 1] = [made["token"]]
    return text


def weights(maps: Mapping[str, Any], layer: int, head: int, name: str = "attention") -> list[bytes]:
    """One head's map as rows of bytes (255 is weight 1; a triangle's rows grow by one), of blocks if it is pooled.
    ValueError if damaged."""
    rows, columns = maps["rows"], maps["cols"]
    lengths: Sequence[int] = range(1, rows + 1) if maps["triangle"] else [columns] * rows
    size = sum(lengths)
    expected = size * maps["layers"] * maps["heads"]
    packed = inflate(maps["data"], expected, f"attention.{name}")
    at = (layer * maps["heads"] + head) * size
    found = []
    for length in lengths:
        found.append(packed[at : at + length])
        at += length
    return found


def pooling(maps: Mapping[str, Any]) -> str:
    """The part of a picture's label that describes pooling; empty without pooling."""
    return ", each square the largest of {by} × {by} weights".format(**maps["pooled"]) if "pooled" in maps else ""


def inflate(data: str, expected: int, name: str) -> bytes:
    """Decodes base64 of deflated bytes. ValueError unless there are `expected` bytes."""
    try:
        packed = zlib.decompressobj().decompress(base64.b64decode(data, validate=True), expected + 1)
    except (zlib.error, binascii.Error) as error:
        raise ValueError(f"not a tfkit trace: {name}.data: {error}") from error
    if len(packed) != expected:
        raise ValueError(f"not a tfkit trace: {name}.data holds {len(packed)} bytes, its shape needs {expected}")
    return packed
