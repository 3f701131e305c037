"""The lock of a service is seen by everybody who may read the course, and never costs the service."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.serve import lock


def test_the_file_is_as_readable_as_the_umask_allows(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        handle = lock.acquire(tmp_path)
    finally:
        os.umask(before)
    assert handle is not None and stat.S_IMODE((tmp_path / lock.LOCK).stat().st_mode) == 0o640
    assert lock.is_held(tmp_path) is True
    os.close(handle)
    assert lock.is_held(tmp_path) is False


def test_two_who_ask_at_once_do_not_take_each_other_for_the_service(tmp_path: Path) -> None:
    (tmp_path / lock.LOCK).touch()
    with (tmp_path / lock.LOCK).open() as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert lock.is_held(tmp_path) is False


def test_a_service_goes_on_without_the_lock(tmp_path: Path) -> None:
    assert lock.acquire(tmp_path / "none") is None
    first = lock.acquire(tmp_path)
    assert first is not None and lock.acquire(tmp_path) is None
    os.close(first)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")
def test_another_account_can_ask_and_a_file_that_it_may_not_read_is_no_error(tmp_path: Path) -> None:
    code = (
        "import os, pathlib; from autograder.serve import lock; os.chdir(os.environ['COURSE']); os.setuid(65534); "
        "print(lock.is_held(pathlib.Path()), lock.acquire(pathlib.Path()))"
    )
    handle = lock.acquire(tmp_path)
    assert handle is not None
    for path in (tmp_path, *tmp_path.parents[:2]):
        path.chmod(0o755)
    said = []
    for mode in (0o644, 0o600):
        (tmp_path / lock.LOCK).chmod(mode)
        ran = subprocess.run([sys.executable, "-c", code], env={**os.environ, "COURSE": str(tmp_path)},
                             capture_output=True, text=True)  # fmt: skip
        said.append(ran.stdout.strip() or ran.stderr)
    os.close(handle)
    assert said == ["True None", "None None"]
