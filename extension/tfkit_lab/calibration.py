"""How sure students were of their predictions, and how often these came true.

A course may ask with each prediction how sure one is that all of it comes true (`sure = true` in course.toml). A
student then sees how often that was so at each step, and an instructor what surprised a class: predictions of which it
was surer than right. Murphy, Winkler 1977 call forecasts reliable whose shares lie on the diagonal. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from autograder.feedback.translate import say
from tfkit_lab import prediction_card, sealed
from tfkit_lab.questions import is_right

TITLE = "How sure you were, and how often it came true"
NOTHING = (
    "Nothing to show yet: this needs predictions with an answer to “How sure are you?” whose results you have seen."
)
STEP = "{sure} % sure: {right} of {count} came true ({share} %)"
SURER = "On the whole you were surer than right: {sure} % sure, {share} % came true."
LESS_SURE = "On the whole you were less sure than you could have been: {sure} % sure, {share} % came true."
CLOSE = "On the whole you were as sure as you were right: {sure} % sure, {share} % came true."
AXES = "Across: how sure you were. Upwards: how often it came true. On the dashed line both are equal."
NEAR = 5  # percentage points that count as equal
SIDE, LEFT, FOOT = 180, 40, 26  # of the picture, in pixels


@dataclass(frozen=True)
class CalibrationStep:
    """The predictions of which a student was equally sure."""

    sure: int  # percent
    right: int
    count: int

    @property
    def share(self) -> int:
        """Of which so many percent came true."""
        return round(100 * self.right / self.count)


def outcome(questions: Sequence[dict[str, Any]], answers: Any, observed: Any) -> bool | None:
    """Whether each answer is what came out; None where either is not known."""
    if answers is None or not observed:
        return None
    return all(is_right(*one) for one in zip(questions, answers, observed, strict=True))


def steps(entries: Iterable[dict[str, Any]]) -> list[CalibrationStep]:
    """What came of predictions as `sealed.seal` stores them, from the least sure on."""
    found: dict[int, list[bool]] = {}
    for entry in entries:
        right = outcome(entry["questions"], entry["answers"], entry.get("observed"))
        if right is not None and entry.get("sure") is not None:
            found.setdefault(entry["sure"], []).append(right)
    return [CalibrationStep(sure, sum(came), len(came)) for sure, came in sorted(found.items())]


def own_steps(folder: Path) -> list[CalibrationStep]:
    """Those of a student: the predictions in the notebook's folder, and in the folders of other units beside it."""
    folders = {folder, *(path.parents[1] for path in folder.parent.glob(f"*/{sealed.FILE.as_posix()}"))}
    return steps(entry for one in sorted(folders) for entry in sealed.read(one).values())


def add_to_class(found: Iterable[dict[str, Any]]) -> None:
    """Put `"calibration"` into each prediction of `sealed.of_class`: how many said how sure they were, the mean of
    that, and the share of them that was right, both in percent; None if nobody did or nothing came out yet."""
    for one in found:
        entries = [{**answer, "questions": one["questions"], "observed": one["observed"]} for answer in one["by"]]
        all_steps = steps(entries)
        count = sum(step.count for step in all_steps)
        one["calibration"] = {"students": count, **_means(all_steps)} if count else None


def _means(found: Sequence[CalibrationStep]) -> dict[str, int]:
    count = sum(step.count for step in found)
    sure = round(sum(step.sure * step.count for step in found) / count)
    return {"sure": sure, "right": round(100 * sum(step.right for step in found) / count)}


def bundle(found: Sequence[CalibrationStep]) -> dict[str, str]:
    """The curve as an output of a notebook."""
    return {"text/html": html(found), "text/plain": text(found)}


def text(found: Sequence[CalibrationStep]) -> str:
    """The curve in words: a line for each step, and one for all of them."""
    return "\n".join([say(TITLE), *_sentences(found)])


def _sentences(found: Sequence[CalibrationStep]) -> list[str]:
    if not found:
        return [say(NOTHING)]
    means = _means(found)
    apart = means["sure"] - means["right"]
    whole = CLOSE if abs(apart) <= NEAR else SURER if apart > 0 else LESS_SURE
    lines = [say(STEP, sure=one.sure, right=one.right, count=one.count, share=one.share) for one in found]
    return [*lines, say(whole, sure=means["sure"], share=means["right"])]


def html(found: Sequence[CalibrationStep]) -> str:
    """The card with the curve; its numbers stand beside it as text, so that nobody needs the picture."""
    css = " ".join(line.strip() for line in prediction_card.style().splitlines())
    *listed, last = _sentences(found)
    items = "".join(f"<li>{escape(line)}</li>" for line in listed)
    told = (
        f'<div><ul class="tfkit-p-steps">{items}</ul><p>{escape(last)}</p></div>' if found else f"<p>{escape(last)}</p>"
    )
    head = f'<div class="tfkit-v-head"><span class="tfkit-v-badge">{escape(say(TITLE))}</span></div>'
    body = f'<div class="tfkit-v-row">{_svg(found) if found else ""}{told}</div>'
    return f'<style>{css}</style><div class="tfkit-verdict tfkit-predict tfkit-is-sealed">{head}{body}</div>'


def _svg(found: Sequence[CalibrationStep]) -> str:
    def at(sure: float, share: float) -> tuple[float, float]:
        return LEFT + SIDE * sure / 100, SIDE + 8 - SIDE * share / 100

    points = [at(one.sure, one.share) for one in found]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{min(4 + one.count, 9)}" fill="var(--tfk-p-ink)"/>'
        for (x, y), one in zip(points, found, strict=True)
    )
    (x0, y0), (x1, y1) = at(0, 0), at(100, 100)
    frame = f'<path d="M{x0} {y1}V{y0}H{x1}" fill="none" stroke="currentcolor"/>'
    even = f'<path d="M{x0} {y0}L{x1} {y1}" stroke="currentcolor" stroke-dasharray="4 4" opacity="0.6"/>'
    across = "".join(f'<text x="{at(p, 0)[0]}" y="{y0 + 16}" text-anchor="middle">{p} %</text>' for p in (0, 50, 100))
    up = "".join(f'<text x="{x0 - 5}" y="{at(0, p)[1] + 4}" text-anchor="end">{p} %</text>' for p in (50, 100))
    curve = f'<polyline points="{line}" fill="none" stroke="var(--tfk-p-ink)" stroke-width="2"/>'
    size = f'width="{LEFT + SIDE + 24}" height="{SIDE + 8 + FOOT}"'
    said = escape(say(AXES), quote=True)
    inner = f"{frame}{even}{across}{up}{curve}{dots}"
    look = 'font-size="11" fill="currentcolor"'
    return f'<svg role="img" aria-label="{said}" {look} {size}>{inner}</svg>'
