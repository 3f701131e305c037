"""The `tfkit` command, which first looks whether `tfkit` is this project's."""

from __future__ import annotations

from tfkit_course import refuse_strangers


def main() -> None:
    """The `tfkit` command, in an environment where `tfkit` is this project's."""
    refuse_strangers()
    from tfkit.tools import cli

    cli.main()
