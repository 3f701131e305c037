"""What the targets of the Makefile run, by what `make --dry-run` prints."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.stopwatch import lacking

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def commands(target: str, *settings: str) -> str:
    """What the target would run if nothing were there yet."""
    told = ["make", "--dry-run", "--always-make", target, *settings]
    return subprocess.run(told, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_each_benchmark_of_bench_writes_its_page():
    printed = commands("bench").replace("\\\n", " ").splitlines()
    run = [line for line in printed if "-m bench." in line or "jlpm bench" in line]
    assert len(run) == 5
    assert all("docs/benchmarks" in line for line in run), run


def test_a_benchmark_that_was_cut_short_goes_on():
    run = [line for line in commands("bench", "RESUME=1").replace("\\\n", " ").splitlines() if "-m bench." in line]
    assert len(run) == 4 and all("--resume" in line for line in run), run


def test_a_night_has_triton_and_what_runs_by_day_has_not():
    rules = dict(re.findall(r"^([\w-]+):(.*?)##", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    assert "$(STAMP)/kernels" in rules["nightly"].split() and "$(STAMP)/kernels" not in rules["test"].split()
    command = [sys.executable, "tools/requirements.py", "kernels"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "triton>=" in printed


def test_both_times_are_taken_even_if_the_first_fails(tmp_path):
    printed = commands("stopwatch", "TORCH_INDEX=https://example.org/cpu", "BOX=--limit 9", f"BIN={tmp_path}")
    (line,) = [line for line in printed.replace("\\\n", " ").splitlines() if "-m tools.stopwatch" in line]
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\n[ $3 != template ]\n')
    python.chmod(0o755)
    done = subprocess.run(["bash", "-c", line], check=False)
    options = "--torch-index https://example.org/cpu --limit 9"
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == [f"-m tools.stopwatch {what} {options}" for what in ("template", "first-day")]
    assert done.returncode == 1


def test_a_night_takes_times_where_a_box_can_be_made():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nnightly:")[2].partition("\n\n")[0]
    (asks,) = re.findall(r"lacking=\$\$\(\$\(BIN\)/python -c '(.*)'\)", recipe)
    told = subprocess.run([sys.executable, "-c", asks], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert told.strip() == lacking() and '[ -z "$$lacking" ]; then $(MAKE) stopwatch' in recipe


def test_kernels_are_tested_by_day_beside_the_environment():
    """In the environment triton would appear in the middle of other tests."""
    printed = commands("test-kernels").replace("\\\n", " ").splitlines()
    (install,) = [line for line in printed if "--target .make/triton.new" in line]
    (run,) = [line for line in printed if "-m pytest" in line]
    assert "--no-deps" in install and re.search(r"'triton==[\d.]+; sys_platform == .linux.'; }$", install)  # not torch
    at = printed.index(install)
    assert printed[at + 1] == "mv .make/triton.new .make/triton", "a folder that pip did not finish is not taken"
    assert '-c "import triton"' in printed[printed.index(run) - 1], "without triton all would be skipped, and pass"
    assert f"PYTHONPATH={ROOT}/.make/triton" in run
    need = re.compile(r'^\s*pytest.importorskip\("triton"', re.M)
    tests = [*(ROOT / "tests/nn").glob("*.py"), *(ROOT / "tests/decode").glob("*.py")]
    files = {str(file.relative_to(ROOT)) for file in tests if need.search(file.read_text(encoding="utf-8"))}
    assert files == set(re.findall(r"tests/\S+[.]py", run))
    assert " test-kernels " in (ROOT / ".ci/run").read_text(encoding="utf-8")
