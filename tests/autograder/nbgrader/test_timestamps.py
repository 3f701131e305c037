"""The time of a submission, whatever the student wrote into the file that says it."""

from __future__ import annotations

import os
from datetime import datetime

import pytest

from autograder.nbgrader.timestamps import UnreadableTimestamp, collected_at, read_timestamp, timestamp_fault

STRANGE = {
    "words": (b"yesterday, about noon", 'it says "yesterday, about noon"'),
    "empty": (b" \n", "it is empty"),
    "latin": (b"am 3. M\xe4rz", "it is not text in UTF-8"),
    "utf16": ("2026-02-01 10:00:00 UTC".encode("utf-16"), "it is not text in UTF-8"),
    "huge": (b"2" * 5_000_000, "it is larger than 1,000 bytes"),
    "long": (b"x" * 500, f'it says "{"x" * 40}…"'),
    "lines": (b"a\nb\x1b[31m", r'it says "a\nb\x1b[31m"'),
    "number": (b"9" * 40, f'it says "{"9" * 40}"'),
    "zone": (b"2026-02-01 10:00:00 99999999999", 'it says "2026-02-01 10:00:00 99999999999"'),
    "year": (b"0001-01-01T00:00:00+14:00", 'it says "0001-01-01T00:00:00+14:00"'),
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_time_stamp_is_told_in_a_line(tmp_path, name):
    content, why = STRANGE[name]
    (tmp_path / "timestamp.txt").write_bytes(content)
    with pytest.raises(UnreadableTimestamp) as error:
        read_timestamp(tmp_path)
    assert str(error.value) == why
    fault = timestamp_fault(tmp_path)
    assert why in fault and "whether it is late is for you to decide" in fault and "\n" not in fault


@pytest.mark.parametrize("kind", ["folder", "fifo", "link"])
def test_what_is_no_file_is_not_read(tmp_path, kind):
    path = tmp_path / "timestamp.txt"
    {"folder": path.mkdir, "fifo": lambda: os.mkfifo(path), "link": lambda: path.symlink_to("/dev/zero")}[kind]()
    assert "holds no time" in timestamp_fault(tmp_path)


def test_a_time_that_nbgrader_wrote_and_none_at_all(tmp_path):
    assert read_timestamp(tmp_path) is None and timestamp_fault(tmp_path) == ""
    (tmp_path / "timestamp.txt").write_text("2026-02-01 10:00:00.5 UTC\n")
    assert read_timestamp(tmp_path) == datetime(2026, 2, 1, 10, 0, 0, 500_000) == collected_at(tmp_path)
    assert timestamp_fault(tmp_path) == ""


def test_without_a_readable_one_the_time_of_change_orders_submissions(tmp_path):
    """So that `nbgrader collect --update` replaces it by a later submission, and by nothing else."""
    (tmp_path / "timestamp.txt").write_text("soon")
    os.utime(tmp_path, (1e9, 1e9))
    assert collected_at(tmp_path) == datetime(2001, 9, 9, 1, 46, 40)
