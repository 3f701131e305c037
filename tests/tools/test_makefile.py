"""What the targets of the Makefile run, by what `make --dry-run` prints."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def commands(target: str) -> str:
    """What the target would run if nothing were there yet."""
    told = ["make", "--dry-run", "--always-make", target]
    return subprocess.run(told, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_each_benchmark_of_bench_writes_its_page():
    printed = commands("bench").replace("\\\n", " ").splitlines()
    run = [line for line in printed if "-m bench." in line or "jlpm bench" in line]
    assert len(run) == 3
    assert all("docs/benchmarks" in line for line in run), run


def test_the_benchmark_of_tokens_is_run_by_its_own_target():
    assert "-m bench.tokens" in commands("bench-tokens")
