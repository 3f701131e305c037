"""A sandbox: students' code gives way to everything else on the machine. Not isolated, like what it builds on."""

from __future__ import annotations

from autograder.sandbox.plain import Subprocess


class Nice(Subprocess):
    """As `Subprocess`, with the lowest priority. One that isolates sets `isolated`, and is chosen by its `rank`."""

    name = "nice"

    def command(self, control: int, descriptors: list[int]) -> list[str]:
        """The warm process, which all boxes are forked from, is started with `nice`."""
        return ["nice", "-n", "19", *super().command(control, descriptors)]

    def describe(self) -> dict[str, str]:
        return super().describe() | {"backend": "nice, NOT ISOLATED"}
