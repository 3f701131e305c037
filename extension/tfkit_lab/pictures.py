"""The views of `tfkit_lab.show`: one class a kind of trace, each with its script and its static figure."""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import traitlets

from tfkit_lab.figure import picture
from tfkit_lab.trace import inflated, pooling, weights
from tfkit_lab.widgets import STATIC, View

_CELL = "padding:0 10px 0 0;text-align:left;border:0;background:none"


class Picture(View):
    """A trace that is looked at place by place; `place` says where: a row, a column, a layer …"""

    kept = ("place",)
    place = traitlets.Dict().tag(sync=True)

    def figure(self) -> str:
        """HTML of the body under its title, without any script."""
        title = html.escape(self.trace["title"])
        caption = f"<figcaption><strong>{title}</strong></figcaption>"
        return f'<figure class="tfkit-static" style="margin:0">{caption}{self.body()}</figure>'

    @abstractmethod
    def body(self) -> str:
        """What stands under the title where no script runs, as HTML."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.trace['title']!r})"


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Words and numbers, escaped; nothing where there are no rows."""
    cell = lambda tag, value: f'<{tag} style="{_CELL}">{html.escape(said(value))}</{tag}>'
    lines = ["".join(cell("td", value) for value in row) for row in rows]
    if not lines:
        return ""
    top = "".join(cell("th", name) for name in head)
    return f'<table style="border-collapse:collapse"><tr>{top}</tr><tr>{"</tr><tr>".join(lines)}</tr></table>'


def said(value: Any) -> str:
    """Four digits of a float, thousands parted by commas in an int; else str."""
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


class Matrices(Picture):
    """Masks, positions and other rectangles of numbers."""

    _esm = script = STATIC / "matrices.js"

    def body(self) -> str:
        """Every matrix as a picture, with its range of values."""
        return "".join(
            picture(
                [bytes(row) for row in rows(inflated(m["data"], m["rows"] * m["cols"], m["name"]), m["cols"])],
                m["cols"],
                f"{m['name']}, {m['low']:.4g} (white) to {m['high']:.4g}",
            )
            for m in self.trace["maps"]
        )


def rows(flat: bytes, width: int) -> list[bytes]:
    """Bytes cut into rows of `width`, the last one shorter where it does not come out even."""
    return [flat[start : start + width] for start in range(0, len(flat), width)]


class Attention(Picture):
    """Every head of every layer."""

    _esm = script = STATIC / "attention.js"

    def body(self) -> str:
        """One head of one layer, at `place` or the last there is, and the shares of its kinds of keys."""
        maps = self.trace["maps"][min(self.place.get("set", 0), len(self.trace["maps"]) - 1)]
        layer, head = (min(self.place.get(k, 0), maps[f"{k}s"] - 1) for k in ("layer", "head"))
        drawn = [row.ljust(maps["cols"], b"\0") for row in weights(maps, layer, head)]
        shown = picture(drawn, maps["cols"], f"{maps['names'][layer]}, head {head + 1}{pooling(maps)}")
        return shown + table(("kind of key", "share of the attention"), shares(maps, layer, head, drawn))


def shares(maps: dict[str, Any], layer: int, head: int, drawn: list[bytes]) -> list[tuple[str, float]]:
    """What part of one head's attention goes to each kind of key; none where kinds are not told, or the
    weights that would be added up are pooled."""
    if "kinds" not in maps or "pooled" in maps:
        return []
    size = maps["rows"] * maps["cols"]
    kinds = inflated(maps["kinds"]["data"], maps["layers"] * maps["heads"] * size, "kinds")
    start = (layer * maps["heads"] + head) * size
    sums = dict.fromkeys(range(1, len(maps["kinds"]["names"])), 0)
    for kind, weight in zip(kinds[start : start + size], b"".join(drawn), strict=True):
        if kind:
            sums[kind] += weight
    whole = sum(sums.values()) or 1
    return [(maps["kinds"]["names"][kind], weight / whole) for kind, weight in sums.items() if weight]


class Training(Picture):
    """Curves over steps."""

    _esm = script = STATIC / "training.js"

    def body(self) -> str:
        """A table of each curve's first, least, greatest and last value; steps without one are skipped."""

        def row(series: dict[str, Any]) -> list[Any]:
            """Four dashes in place of numbers where a curve has no value."""
            known = [value for value in series["values"] if value is not None]
            return [series["name"], *([known[0], min(known), max(known), known[-1]] if known else ["–"] * 4)]

        return table(("curve", "at first", "least", "most", "at last"), map(row, self.trace["series"]))


class Corruption(Picture):
    """What objectives make of a sentence."""

    _esm = script = STATIC / "corruption.js"

    def body(self) -> str:
        """One draw of each objective, what goes in beside what is to be written."""
        at = self.place.get("draw", 0)
        drawn = [(one["name"], one["draws"][at % len(one["draws"])]) for one in self.trace["objectives"]]
        text = lambda tokens: " ".join(token for token in tokens if token is not None)
        lines = [(name, text(draw["inputs"]), text(draw["labels"])) for name, draw in drawn]
        return table(("objective", "goes in", "to be written"), [("the text", text(self.trace["tokens"]), ""), *lines])


class Retrieval(Picture):
    """Documents, and what each gives to an answer."""

    _esm = script = STATIC / "retrieval.js"

    def body(self) -> str:
        """A table of documents, their scores and what each gives to every token of the answer."""
        head = ("document", "score", "p(d)", *self.trace["answer"], "p(d | answer)")
        found = self.trace["documents"]
        lines = [(d["text"], d["score"], d["p"], *d["tokens"], d["posterior"]) for d in found]
        return table(head, [*lines, ("summed over documents", "", "", *self.trace["by_token"], "")])


class Anatomy(Picture):
    """A model's modules; or two models'."""

    _esm = script = STATIC / "anatomy.js"

    def body(self) -> str:
        """A table for each tree, modules five levels deep."""
        return "".join(
            table(("module", "parameters", "class", "weights"), listed(tree, "")) for tree in self.trace["trees"]
        )


def listed(part: dict[str, Any], indent: str, depth: int = 4) -> list[tuple[str, int, str, str]]:
    """A row for each module down to `depth` below this one: name, parameters, class, shapes of its weights."""
    shapes = "  ".join(f"{name}{shape}" for name, shape in part["shapes"].items())
    many = f" × {part['alike']}" if part["alike"] > 1 else ""
    line = (indent + part["name"] + many, part["parameters"], part["class"], shapes)
    below = [row for child in part["children"] for row in listed(child, indent + " ", depth - 1)] if depth else []
    return [line, *below]
