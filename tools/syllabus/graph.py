"""Draws what depends on what as an SVG that follows the reader's light or dark scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from course.settings import Unit
from tools.syllabus.needs import Needs, direct

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 186, 46, 60, 16, 16
STYLE = """
  svg { background: #ffffff; font: 13px system-ui, sans-serif; }
  rect { fill: #f4f6f8; stroke: #8a94a0; } rect.core { fill: #dcebf9; stroke: #2a6fb0; stroke-width: 1.8; }
  text { fill: #1b1f24; } .number { font-weight: 600; }
  path { fill: none; stroke: #6b7680; stroke-width: 1.4; } path.idea { stroke-dasharray: 4 4; }
  marker path { fill: #6b7680; stroke: none; }
  @media (prefers-color-scheme: dark) {
    svg { background: #14181d; }
    rect { fill: #20262d; stroke: #77828e; } rect.core { fill: #17344f; stroke: #6db3f2; }
    text { fill: #e8ecf0; } path { stroke: #97a2ad; } marker path { fill: #97a2ad; }
  }
"""
ARROW = (
    '<marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 8 4 0 8z"/></marker>'
)


def layers(edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The units by the length of the longest way to them."""
    depth: dict[str, int] = {}
    for unit, before in edges.items():  # in the course's order, so those before are known
        depth[unit] = 1 + max((depth[one] for one in before), default=-1)
    return [[unit for unit in edges if depth[unit] == level] for level in range(1 + max(depth.values()))]


def draw(course: Sequence[Unit], found: Needs, core: Sequence[str]) -> str:
    """The SVG: a box for each unit, an arrow for each need that no other implies, dashed where it takes ideas only."""
    edges = direct(found)
    columns = layers(edges)
    tallest = max(map(len, columns))
    size = _across(len(columns), WIDTH, GAP_X), _across(tallest, HEIGHT, GAP_Y)
    places = _places(columns, edges)
    lines = [_arrow(places[one], places[unit], found[unit][one]) for unit, own in edges.items() for one in own]
    boxes = [_box(unit, places[unit.name], unit.name in core) for unit in course]
    said = "; ".join(f"{unit[:2]} builds on {', '.join(one[:2] for one in own)}" for unit, own in edges.items() if own)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" role="img">'
    title = f"<title>What depends on what</title><desc>{escape(said)}</desc>"
    return "\n".join([head, title, f"<style>{STYLE}</style>", f"<defs>{ARROW}</defs>", *lines, *boxes, "</svg>"]) + "\n"


def _places(columns: Sequence[Sequence[str]], edges: Mapping[str, Sequence[str]]) -> dict[str, tuple[float, float]]:
    """Where each box begins. In a column the units stand as those do that they build on, so that few arrows cross."""
    tallest = max(map(len, columns))
    places: dict[str, tuple[float, float]] = {}
    for x, column in enumerate(columns):
        height = {unit: [places[one][1] for one in edges[unit]] for unit in column}
        ordered = sorted(column, key=lambda unit: (sum(height[unit]) / max(len(height[unit]), 1), unit))
        for y, unit in enumerate(ordered):
            top = (y + (tallest - len(column)) / 2) * (HEIGHT + GAP_Y)
            places[unit] = (MARGIN + x * (WIDTH + GAP_X), MARGIN + top)
    return places


def _across(count: int, width: int, gap: int) -> int:
    return 2 * MARGIN + count * (width + gap) - gap


def _arrow(start: tuple[float, float], end: tuple[float, float], functions: Sequence[str]) -> str:
    (x0, y0), (x1, y1) = (start[0] + WIDTH, start[1] + HEIGHT / 2), (end[0], end[1] + HEIGHT / 2)
    bend = GAP_X * 0.8
    kind = "" if functions else ' class="idea"'
    curve = f"M{x0:.0f} {y0:.0f}C{x0 + bend:.0f} {y0:.0f} {x1 - bend:.0f} {y1:.0f} {x1 - 2:.0f} {y1:.0f}"
    return f'<path{kind} marker-end="url(#end)" d="{curve}"/>'


def _box(unit: Unit, place: tuple[float, float], core: bool) -> str:
    x, y = place
    kind = ' class="core"' if core else ""
    number, words = unit.name[:2], _in_two_lines(unit.title)
    rows = [f'<tspan x="{x + 34:.0f}" y="{y + top:.0f}">{escape(row)}</tspan>' for row, top in words]
    return (
        f'<rect{kind} x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>'
        f'<text class="number" x="{x + 10:.0f}" y="{y + HEIGHT / 2 + 5:.0f}">{number}</text>'
        f"<text>{''.join(rows)}</text>"
    )


def _in_two_lines(title: str, longest: int = 18) -> list[tuple[str, float]]:
    if len(title) <= longest:
        return [(title, HEIGHT / 2 + 5)]
    words = title.split()
    cut = min(range(1, len(words)), key=lambda at: max(len(" ".join(words[:at])), len(" ".join(words[at:]))), default=1)
    return [(" ".join(words[:cut]), HEIGHT / 2 - 3), (" ".join(words[cut:]), HEIGHT / 2 + 13)]
