"""The static figure of a trace, for places that run no scripts: nbconvert, nbgrader's feedback, a code host."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from tfkit_lab.trace import Trace, focus, pooling, tokens_so_far, weights

_BAR = "display:inline-block;height:.8em;background:#1565c0"
_CELL = "padding:0 10px 0 0;text-align:left;border:0;background:none"


def figure(trace: Trace, step: int, layer: int, head: int) -> str:
    """One step as `<figure>`: tokens so far, candidates, attention of one head. Escaped, without scripts or external
    resources."""
    step = max(0, min(step, len(trace["steps"]) - 1))  # the run may start later or end earlier
    node = focus(trace, step)
    total = len(trace["steps"])
    so_far = " ".join(html.escape(token) for token in tokens_so_far(trace, node))
    title = html.escape(trace["title"] or f"Decoding: {trace['strategy']}")
    place = f"step {min(step + 1, total)} of {total}"
    caption = f"<figcaption><strong>{title}</strong>, {place}: <code>{so_far}</code></figcaption>"
    body = caption + _candidates(trace, step, node) + _maps(trace, step, layer, head)
    return f'<figure class="tfkit-static" style="margin:0">{body}</figure>'


def _candidates(trace: Trace, step: int, node: int) -> str:
    if not trace["steps"]:
        return ""
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL}"><code>{html.escape(token)}</code></th><td style="{_CELL}">{p:.3f}</td>'
        f'<td style="{_CELL}"><span style="{_BAR};width:{round(140 * p)}px"></span></td></tr>'
        for token, _, p in trace["steps"][step]["topk"].get(str(node), ())
    )
    head = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in ("next token", "p"))
    return f'<table style="border-collapse:collapse;margin:6px 0"><tr>{head}<td></td></tr>{rows}</table>'


def _maps(trace: Trace, step: int, layer: int, head: int) -> str:
    names = {"self": "self-attention", "cross": "attention to the source"}
    query = max(1, len(trace["prompt"])) - 1 + step
    which = f"layer {layer + 1} head {head + 1}"
    return "".join(
        up_to(maps, layer, head, query, f"{names[kind]}, {which}")
        for kind, maps in trace.get("attention", {}).items()
        if layer < maps["layers"] and head < maps["heads"]
    )


def up_to(maps: Mapping[str, Any], layer: int, head: int, query: int, label: str) -> str:
    """The rows up to the query's; later ones stay white, as in the widget."""
    columns, last = maps["cols"], query // maps.get("pooled", {"by": 1})["by"]
    rows = weights(maps, layer, head, label)
    shown = [row.ljust(columns, b"\0") if r <= last else bytes(columns) for r, row in enumerate(rows)]
    return picture(shown, columns, f"{label}, up to position {query}{pooling(maps)}")


def picture(shown: Sequence[bytes], columns: int, label: str) -> str:
    """A picture of bytes with its label, which is also its text for screen readers."""
    rows, label = shown, html.escape(label)
    scale = max(1, min(12, 240 // max(columns, len(rows))))
    size = f"width:{columns * scale}px;height:{len(rows) * scale}px"
    data = base64.b64encode(png(shown, columns)).decode()
    return (
        f'<div style="display:inline-block;margin-right:16px">{label}<br><img alt="{label}" '
        f'style="{size};image-rendering:pixelated;border:1px solid #999" src="data:image/png;base64,{data}"></div>'
    )


def png(rows: Sequence[bytes], width: int) -> bytes:
    """A grey picture, dark where the byte is large; the square root keeps faint weights visible."""
    tone = bytes(255 - round(255 * (value / 255) ** 0.5) for value in range(256))
    raw = b"".join(b"\0" + row.translate(tone) for row in rows)
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in chunks)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
