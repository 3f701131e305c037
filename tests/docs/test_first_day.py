"""The commands of the page for the first day run as they stand, one after the other, and what they promise is there."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course.mock_class import class_of

PAGE = Path(__file__).parents[2] / "docs/first-day.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """Those for whoever has installed the kit; `make stopwatch` types the others."""
    text = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    return [line[2:] for block in BLOCK.findall(text) for line in block.splitlines()]


def test_there_are_five_and_each_is_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(commands()) == 5 == len(re.findall(r"^\d\. \*\*", text, re.MULTILINE))


def test_the_mock_class_of_heads_is_as_large_as_the_page_says() -> None:
    assert len(class_of("03-heads")) == 18 and "that of 03-heads has eighteen" in PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
def test_they_take_a_class_from_nothing_to_exported_scores(tmp_path: Path) -> None:
    """In one shell, as they are typed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", "HOME": str(tmp_path)}
    script = "\n".join(["set -e", *commands()])
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    course = tmp_path / "my-course"
    assert "what to teach again" in (course / "02-masks.html").read_text(encoding="utf-8").lower()
    with (course / "02-masks.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["student_id"]: float(row["score"]) for row in rows} == {"ada": 5, "ben": 5, "chen": 5, "emil": 4.5}
    assert (course / "release/02-masks/AGENTS.md").is_file()
