"""Runs graders on the dataset: whether each answer was accepted, then rates over all answers."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from autograder.benchmark.dataset import Row
from autograder.benchmark.grader import BenchmarkGrader
from autograder.exercises import registry
from autograder.sandbox.base import Backend, SandboxError

TFKIT = "tfkit"
BLIND_RIGHT, BLIND_WRONG = "blind right", "blind wrong"  # by authors who saw the statement alone
GRADED_KINDS = ("right", "wrong", "rewritten", BLIND_RIGHT, BLIND_WRONG)  # graders may differ on edge cases


@dataclass(frozen=True)
class Result:
    """One grader's result for one answer. `failed` says why it could not be judged; then it does not count."""

    grader: str
    id: str
    exercise: str
    kind: str
    name: str
    accepted: bool
    misconception: str | None = None
    values: bool | None = None
    seconds: float = 0.0
    why: str = ""
    failed: str = ""


@dataclass(frozen=True)
class Rate:
    """A count out of a total."""

    hits: int
    total: int

    def __str__(self) -> str:
        return f"{self.hits}/{self.total} ({100 * self.hits / self.total:.0f} %)" if self.total else "none"


def sample(rows: Sequence[Row], most: int | None, seed: int) -> list[Row]:
    """At most `most` answers of each exercise and kind, in a random order with this seed; all if `most` is
    None. A larger sample contains every smaller one."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["kind"] in GRADED_KINDS:
            groups.setdefault((row["exercise"], row["kind"]), []).append(row)
    chosen: list[Row] = []
    for key, group in groups.items():
        random.Random(f"{seed}/{key}").shuffle(group)
        chosen += group[:most]
    return chosen


def judge_all(
    graders: Mapping[str, BenchmarkGrader],
    rows: Iterable[Row],
    backend: Backend,
    on_progress: Callable[[Result], object] = lambda _: None,
) -> Iterator[Result]:
    """Runs every grader on every answer that it covers, answer by answer."""
    for row in rows:
        exercise = registry.find(row["exercise"])
        for name, grader in graders.items():
            if not grader.covers(exercise):
                continue
            head = {"grader": name, **{key: row[key] for key in ("id", "exercise", "kind", "name")}}
            started = time.monotonic()
            try:
                found = asdict(grader.judge(exercise, row["code"], backend))
            except SandboxError as error:  # a failure of the machine does not count for or against the grader
                found = {"accepted": False, "failed": str(error) or "no reason was given"}
            found["why"] = found.get("why", "")[:300]
            result = Result(**head, **found, seconds=round(time.monotonic() - started, 3))
            on_progress(result)
            yield result


def kill_rate(results: Iterable[Result], kind: str) -> Rate:
    """The share of wrong answers of a kind that were rejected."""
    counted = [one for one in results if one.kind == kind and not one.failed]
    return Rate(sum(not one.accepted for one in counted), len(counted))


def false_alarm_rate(results: Iterable[Result]) -> Rate:
    """The share of right answers that were rejected."""
    return kill_rate(results, "right")


def naming_rate(results: Iterable[Result], kind: str) -> Rate:
    """The share of wrong answers of a kind that were named correctly."""
    counted = [one for one in results if one.kind == kind and not one.failed]
    return Rate(sum(one.misconception == one.name for one in counted), len(counted))


def blind_table(results: Sequence[Result], titles: Mapping[str, str]) -> str:
    """Markdown: how each grader judged the answers of authors who saw the statement alone, and below it this project's
    engine on the same exercises."""
    lines = ["| grader | exercises | wrong rejected | right rejected |", "|---|---:|---:|---:|"]
    blind = [one for one in results if one.kind in (BLIND_RIGHT, BLIND_WRONG)]
    for name, title in titles.items():
        own = [one for one in blind if one.grader == name]
        covered = {one.exercise for one in own}
        same = [one for one in blind if one.grader == TFKIT and one.exercise in covered]
        for words, found in ((title, own), *([("– tfkit on these", same)] if name != TFKIT and same else ())):
            rates = (kill_rate(found, BLIND_WRONG), kill_rate(found, BLIND_RIGHT))
            lines.append(f"| {words} | {len(covered)} | {rates[0]} | {rates[1]} |")
    return "\n".join(lines) + "\n"


def table(results: Sequence[Result], titles: Mapping[str, str]) -> str:
    """Markdown: a row for each grader, and below it this project's own engine on the same exercises.

    A third column counts only those wrong answers whose ordinary values are wrong by the engine's own account: not
    every specification covers gradients, dtypes or costs.
    """
    lines = [
        "| grader | exercises | wrong rejected, tuning | of these, ordinary values wrong | wrong rejected, held out "
        "| right rejected | named, tuning | named, held out |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    plain = {one.id for one in results if one.grader == TFKIT and one.values}
    for name, title in titles.items():
        own = [one for one in results if one.grader == name]
        covered = {one.exercise for one in own}
        lines.append(_row(title, own, plain, covered))
        same = [one for one in results if one.grader == TFKIT and one.exercise in covered]
        if name != TFKIT and same:
            lines.append(_row("– tfkit on these", same, plain, covered))
    return "\n".join(lines) + "\n"


def _row(title: str, own: Sequence[Result], plain: set[str], covered: set[str]) -> str:
    names_mistakes = any(one.misconception for one in own)
    names = [str(naming_rate(own, kind)) if names_mistakes else "–" for kind in ("wrong", "rewritten")]
    values = kill_rate([one for one in own if one.id in plain], "wrong") if plain else "–"
    cells = [
        title,
        len(covered),
        kill_rate(own, "wrong"),
        values,
        kill_rate(own, "rewritten"),
        false_alarm_rate(own),
        *names,
    ]
    return f"| {' | '.join(map(str, cells))} |"


def as_lines(results: Iterable[Result]) -> str:
    """The results as JSON, one per line."""
    return "".join(json.dumps(asdict(one)) + "\n" for one in results)


def from_lines(text: str) -> list[Result]:
    """Results that `as_lines` wrote. Raises ValueError for anything else."""
    kept: list[Any] = [json.loads(line) for line in text.splitlines() if line.strip()]
    try:
        return [Result(**one) for one in kept]
    except TypeError as error:
        raise ValueError(f"this is not a results file of the benchmark: {error}") from None
