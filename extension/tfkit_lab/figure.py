"""The static figure of a trace, for places that run no scripts: nbconvert, nbgrader's feedback, a code host."""

from __future__ import annotations

import base64
import html
import struct
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from tfkit_lab.trace import Trace, focus, pooling, tokens_so_far, weights

Colour = tuple[int, int, int]
Names = tuple[Sequence[str], Sequence[str]]

NAMELESS: Names = ((), ())
SEQUENTIAL: tuple[Colour, ...] = ((227, 237, 240), (85, 169, 181), (20, 44, 99))  # as in autograder/feedback/tokens.css
NEGATIVE, ZERO, POSITIVE = (147, 52, 10), (243, 243, 240), (26, 92, 168)
LETTER = 6.1  # pixels of one letter of a name
LONGEST = 10  # letters of a name
DIRECTION = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # they turn all the text behind them
BLANKS = {" ": "␣", "\n": "↵"}
_BAR = "display:inline-block;height:.8em;background:#0068a8"
_CELL = "padding:0 10px 0 0;text-align:left;border:0;background:none"


def figure(trace: Trace, step: int, layer: int, head: int) -> str:
    """One step as `<figure>`: tokens so far, candidates, attention of one head. Escaped, without scripts or external
    resources."""
    step = max(0, min(step, len(trace["steps"]) - 1))  # the run may start later or end earlier
    node = focus(trace, step)
    total = len(trace["steps"])
    so_far = " ".join(html.escape(bidi_isolate(token)) for token in tokens_so_far(trace, node))
    title = html.escape(trace["title"] or f"Decoding: {trace['strategy']}")
    progress = f"step {min(step + 1, total)} of {total}"
    caption = f"<figcaption><strong>{title}</strong>, {progress}: <code>{so_far}</code></figcaption>"
    body = caption + _candidates(trace, step, node) + _maps(trace, step, layer, head)
    return f'<figure class="tfkit-static" style="margin:0">{body}</figure>'


def _candidates(trace: Trace, step: int, node: int) -> str:
    if not trace["steps"]:
        return ""
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL}"><code>{html.escape(bidi_isolate(token))}</code></th>'
        f'<td style="{_CELL}">{p:.3f}</td>'
        f'<td style="{_CELL}"><span style="{_BAR};width:{round(140 * p)}px"></span></td></tr>'
        for token, _, p in trace["steps"][step]["topk"].get(str(node), ())
    )
    head = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in ("next token", "p"))
    return f'<table style="border-collapse:collapse;margin:6px 0"><tr>{head}<td></td></tr>{rows}</table>'


def _maps(trace: Trace, step: int, layer: int, head: int) -> str:
    labels = {"self": "self-attention", "cross": "attention to the source"}
    query = max(1, len(trace["prompt"])) - 1 + step
    rows = tokens_so_far(trace, trace["path"][-1]) if trace["path"] else []
    which = f"layer {layer + 1} head {head + 1}"
    return "".join(
        up_to(
            maps,
            layer,
            head,
            query,
            f"{labels[kind]}, {which}",
            (rows, rows if kind == "self" else trace["source"] or []),
        )
        for kind, maps in trace.get("attention", {}).items()
        if layer < maps["layers"] and head < maps["heads"]
    )


def up_to(maps: Mapping[str, Any], layer: int, head: int, query: int, label: str, names: Names = NAMELESS) -> str:
    """The rows up to the query's; later ones stay empty. names: of the queries and of the keys."""
    columns, last = maps["cols"], query // maps.get("pooled", {"by": 1})["by"]
    rows = weights(maps, layer, head, label)
    shown = [row.ljust(columns, b"\0") if r <= last else bytes(columns) for r, row in enumerate(rows)]
    return picture(shown, columns, f"{label}, up to position {query}{pooling(maps)}", pooled_names(maps, names))


def pooled_names(maps: Mapping[str, Any], names: Names) -> Names:
    """The names of rows and columns: of a block of positions, that of the first."""
    block = maps.get("pooled", {"by": 1})["by"]
    return names[0][::block], names[1][::block]


def picture(
    shown: Sequence[bytes], columns: int, label: str, names: Names = NAMELESS, tones: Sequence[Colour] | None = None
) -> str:  # fmt: skip
    """A picture of bytes with its label, which is also its text for screen readers, and names or numbers along both
    sides. tones: the colour of each byte (default: of a share)."""
    scale = max(1, min(16, 260 // max(columns, len(shown))))
    sides = [
        ticks(of, count, scale, flat)
        for of, count, flat in zip(names, (len(shown), columns), (False, True), strict=True)
    ]
    left, top = (10 + max((_wide(word) for _, word in side), default=0.0) for side in sides)
    top = top if names[1] else 16
    width, height = columns * scale, len(shown) * scale
    words = [_word(left - 5, top + (at + 0.5) * scale + 3.5, word, "end") for at, word in sides[0]]
    if names[1]:
        words += [_word(left + (at + 0.5) * scale + 3.5, top - 5, word, "start", True) for at, word in sides[1]]
    else:
        words += [_word(left + (at + 0.5) * scale, top - 5, word, "middle") for at, word in sides[1]]
    data = base64.b64encode(png(shown, columns, tones or shares())).decode()
    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 8:.0f}" height="{top + height + 4:.0f}" '
        f'font-family="monospace" font-size="10" fill="#17212b"><rect width="100%" height="100%" fill="#fff"/>'
        f'<image x="{left:.1f}" y="{top:.1f}" width="{width}" height="{height}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>{"".join(words)}</svg>'
    )
    label = html.escape(label)
    source = "data:image/svg+xml;base64," + base64.b64encode(drawing.encode()).decode()
    return f'<div style="display:inline-block;margin-right:16px">{label}<br><img alt="{label}" src="{source}"></div>'


def ticks(names: Sequence[str], count: int, scale: int, flat: bool) -> list[tuple[int, str]]:
    """The squares with a name, or a number where there are no names: all, or some where they would touch."""
    least = -(-(22 if flat and not names else 11) // scale)
    if not names:
        every = next((one for one in (1, 2, 5, 10, 20, 50, 100) if one >= least), least)
        return [(at, str(at)) for at in range(0, count, every)]
    return [(at, visible(names[at])) for at in range(0, min(count, len(names)), least)]


def bidi_isolate(token: str) -> str:
    """A token that does not change the direction of its neighbours: Hebrew and Arabic are isolated, and direction marks
    are spelled out."""
    plain = "".join(f"⟨U+{ord(letter):X}⟩" if letter in DIRECTION else letter for letter in token)
    turns = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in plain)
    return f"\u2068{plain}\u2069" if turns else plain


def visible(token: str) -> str:
    """A token as a short name: blanks are drawn, and what cannot be drawn is a box."""
    words = "".join(BLANKS.get(letter, letter if letter.isprintable() else "▯") for letter in token) or "∅"
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _wide(word: str) -> float:
    return LETTER * sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in word)


def _word(x: float, y: float, word: str, anchor: str, upwards: bool = False) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if upwards else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{html.escape(word)}</text>'


def shares(most: float = 1.0, low: float = 0.0, high: float = 1.0, root: bool = True) -> list[Colour]:
    """The colour of each byte between `low` and `high`, from nothing to `most`; the root spreads what is small."""
    values = (abs(low + byte * (high - low) / 255) / most for byte in range(256))
    return [mix(SEQUENTIAL, min(1.0, value) ** (0.5 if root else 1.0)) for value in values]


def sign_tones(low: float, high: float) -> list[Colour]:
    """The colour of each byte between `low` and `high`, with 0 in the middle of the scale."""
    most = max(abs(low), abs(high)) or 1.0
    values = [(low + byte * (high - low) / 255) / most for byte in range(256)]
    return [mix((ZERO, NEGATIVE if value < 0 else POSITIVE), abs(value) ** 0.5) for value in values]


def mix(stops: Sequence[Colour], share: float) -> Colour:
    """The colour at a place, from 0 to 1, between stops that follow one another."""
    at = share * (len(stops) - 1)
    first = min(int(at), len(stops) - 2)
    red, green, blue = (round(a + (b - a) * (at - first)) for a, b in zip(stops[first], stops[first + 1], strict=True))
    return red, green, blue


def png(rows: Sequence[bytes], width: int, tones: Sequence[Colour]) -> bytes:
    """A picture of bytes, each in its colour of 256."""
    raw = b"".join(b"\0" + row for row in rows)
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0)
    palette = bytes(part for tone in tones for part in tone)
    chunks = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in chunks)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
