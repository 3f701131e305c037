"""Writes metrics during training: a CSV file, and TensorBoard's format if it is installed."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import Protocol

COLUMNS = ("step", "loss", "rate", "gradient_norm", "tokens_per_second")


class ScalarWriter(Protocol):
    """The part of TensorBoard's SummaryWriter that is used here."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        """Adds a value to the curve `tag`."""
        ...

    def close(self) -> None:
        """Closes the files."""
        ...


class Metrics:
    """metrics.csv in `directory`, one line per step. Resuming drops the lines after the step that it resumes from."""

    def __init__(self, directory: str | Path, done: int = 0) -> None:
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        kept = self._earlier_rows(directory / "metrics.csv", done)
        self.file = (directory / "metrics.csv").open("w", newline="", encoding="utf-8")
        self.lines = csv.writer(self.file)
        self.lines.writerows([COLUMNS, *kept])
        self.board = self._board(directory, done)

    @staticmethod
    def _earlier_rows(file: Path, done: int) -> list[list[str]]:
        if not done or not file.is_file():
            return []
        with file.open(newline="", encoding="utf-8") as stream:
            return [row for row in list(csv.reader(stream))[1:] if len(row) == len(COLUMNS) and int(row[0]) <= done]

    @staticmethod
    def _board(directory: Path, done: int) -> ScalarWriter | None:
        if importlib.util.find_spec("tensorboard") is None:
            return None
        from torch.utils.tensorboard import SummaryWriter

        writer: ScalarWriter = SummaryWriter(str(directory), purge_step=done + 1)
        return writer

    def write(self, step: int, values: dict[str, float]) -> None:
        """values: all columns but the step."""
        self.lines.writerow([step, *(f"{values[name]:.8g}" for name in COLUMNS[1:])])
        self.file.flush()  # a killed run leaves all complete lines
        if self.board is not None:
            for name, value in values.items():
                self.board.add_scalar(f"train/{name}", value, step)

    def close(self) -> None:
        """Closes the files."""
        self.file.close()
        if self.board is not None:
            self.board.close()
