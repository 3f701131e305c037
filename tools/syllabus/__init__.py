"""The syllabus: what units need, how long they take, tracks and weeks (docs/syllabus.md), written from the course."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
