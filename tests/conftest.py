"""For all tests: the same random numbers in each run, and a sample of the cases if all of them would take too long.

Hypothesis draws the same at each run, so that nobody's change fails for another's luck; `make fuzz` draws anew, and a
million times. A test marked `sampled(n)` runs one in n of its cases, and not those that the next test runs: several
tests of all architectures together see each of them. Which ones turns with the day of the commit under test, so that n
days of work see every case; `--turn N` repeats a day's. One marked `nightly` does not run at all; `make nightly` runs
every case of every test. Slow tests come first, so that no core waits for the last one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings

QUICK = str(Path(__file__).parent / "quick_start")  # what this process and those that it starts import first
if QUICK not in sys.path:
    sys.path.insert(0, QUICK)
    os.environ["PYTHONPATH"] = os.pathsep.join([QUICK, *filter(None, [os.environ.get("PYTHONPATH")])])

settings.register_profile("same", derandomize=True)
if "FUZZ_CASES" not in os.environ:
    settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-case", action="store_true", help="run what is marked `nightly`, all that is `sampled`")
    parser.addoption("--turn", type=int, help="which cases of what is `sampled` run; default: the day of the commit")


def pytest_configure(config: pytest.Config) -> None:
    """Finds this run's turn; the processes of a run with several have that of the first."""
    if config.getoption("--turn") is None:
        config.option.turn = _day_of_commit()


def pytest_report_header(config: pytest.Config) -> str:
    return f"sample: --turn {config.getoption('--turn')}"


def _day_of_commit() -> int:
    """Days from 1970 to the checked-out commit; 0 outside a repository."""
    command = ["git", "-C", str(Path(__file__).parent), "log", "-1", "--format=%ct"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return int(done.stdout) // 86400 if done.returncode == 0 and done.stdout.strip() else 0


@pytest.fixture(scope="session")
def every(pytestconfig: pytest.Config) -> Callable[[int], int]:
    """`every(n)`: the step with which a test samples a long list of cases: n, or 1 if all cases are to run."""
    return lambda n: 1 if pytestconfig.getoption("--every-case") else n


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts slow tests first, and deselects the cases that `sampled(n)` does not take. A case that is named on the
    command line always runs."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if config.getoption("--every-case"):
        return
    cases = Counter(map(_sampled, items))
    counted: Counter[tuple[str, int]] = Counter()
    taken, left_out = [], []
    turn = config.getoption("--turn")
    for item in items:
        test, step = sampled = _sampled(item)
        first = (crc32(test.encode()) + turn) % min(step, cases[sampled])
        out_of_turn = counted[sampled] % step != first
        (left_out if out_of_turn or item.get_closest_marker("nightly") else taken).append(item)
        counted[sampled] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = taken


def _sampled(item: pytest.Item) -> tuple[str, int]:
    """The test's name without its case, and one in how many of its cases runs."""
    marker = item.get_closest_marker("sampled")
    return item.nodeid.partition("[")[0], marker.args[0] if marker else 1
