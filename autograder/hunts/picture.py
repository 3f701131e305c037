"""The symptom of a whole model as pictures: how far each part is from the right one, and the losses in training."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from autograder.feedback.translate import say

ROW, NAMES, WIDTH = 18, 190, 420  # height of a bar, room for the names, width of a picture
HEIGHT = 150  # of the curves
HIGHEST = 4.0  # loss that is drawn: the first steps are above it with any code
EQUAL = 1e-6
LOOKS = (
    'stroke-width="3" stroke="var(--tfk-v-wrong)"',
    'stroke-width="1.5" stroke-dasharray="5 4" stroke="currentcolor"',
)
BARS = "How far each part is from the published model's, as a share of its largest entry"
CURVES = "The loss in training: of this code (thick) and of the published model (dashed)"
SAME = "equal"
MOST_BARS = 16


def bars_svg(bars: Sequence[tuple[str, float]]) -> str:
    """A bar for each part, in the order in which they ran; of many the last ones that are equal, and those after."""
    shown = _clearest(bars)
    rows = "".join(_bar(index, name, by) for index, (name, by) in enumerate(shown))
    told = ", ".join(f"{name}: {_share(by)}" for name, by in shown)
    return _svg(ROW * len(shown) + 4, f"{say(BARS)}: {told}", rows)


def _clearest(bars: Sequence[tuple[str, float]]) -> Sequence[tuple[str, float]]:
    wrong = next((at for at, (_, by) in enumerate(bars) if by > EQUAL), len(bars))
    start = max(0, min(wrong - 2, len(bars) - MOST_BARS))
    return [*bars[start : start + MOST_BARS - 1], bars[-1]] if len(bars) > MOST_BARS else bars


def _share(by: float) -> str:
    if by <= EQUAL:
        return say(SAME)
    return "> 999 %" if by > 9.99 else f"{100 * by:.3g} %"


def _bar(index: int, name: str, by: float) -> str:
    top, room = ROW * index + 2, WIDTH - NAMES - 70
    wide = 0.0 if by <= EQUAL else max(3.0, room * min(by, 1.0))
    colour = "var(--tfk-v-right)" if by <= EQUAL else "var(--tfk-v-wrong)"
    return (
        f'<text x="{NAMES - 8}" y="{top + 13}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{NAMES}" y="{top + 2}" width="{wide:.1f}" height="{ROW - 5}" fill="{colour}"/>'
        f'<text x="{NAMES + wide + 6:.1f}" y="{top + 13}">{escape(_share(by))}</text>'
    )


def curves_svg(curves: Sequence[Sequence[float]]) -> str:
    """The losses of the faulty model and of the right one, over the steps."""
    most = min(max(max(curve) for curve in curves), HIGHEST)
    left, bottom = 34, HEIGHT - 22
    lines = []
    for curve, look in zip(curves, LOOKS, strict=True):
        wide, high = (WIDTH - left - 8) / max(len(curve) - 1, 1), bottom - 10
        points = [(left + wide * at, bottom - high * min(loss, most) / most) for at, loss in enumerate(curve)]
        lines.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="none" {look}/>')
    axes = (
        f'<path d="M{left} 10 V{bottom} H{WIDTH - 8}" fill="none" stroke="currentcolor" opacity="0.5"/>'
        f'<text x="{left - 6}" y="16" text-anchor="end">{most:.1f}</text>'
        f'<text x="{left - 6}" y="{bottom}" text-anchor="end">0</text>'
    )
    told = " / ".join(f"{curve[0]:.2f} → {curve[-1]:.2f}" for curve in curves)
    return _svg(HEIGHT, f"{say(CURVES)}: {told}", axes + "".join(lines))


def _svg(height: int, label: str, inside: str) -> str:
    return (
        f'<svg class="tfkit-h-picture" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" '
        f'aria-label="{escape(label, quote=True)}" font-size="12" fill="currentcolor">{inside}</svg>'
    )
