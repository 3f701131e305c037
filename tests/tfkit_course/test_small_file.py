"""A file that somebody else wrote is read whole or refused at once, whatever it is."""

from __future__ import annotations

import os

import pytest

from tfkit_course.small_file import NotSmallFile, read_small, read_small_text, reason


def test_a_small_regular_file_is_read_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("é\n".encode())
    assert read_small(path, 3) == "é\n".encode() and read_small_text(path, 3) == "é\n"
    with pytest.raises(NotSmallFile, match="larger than 2 bytes"):
        read_small(path, 2)


def test_links_folders_fifos_and_devices_are_refused_at_once(tmp_path):
    """Opening a FIFO without a writer waits for ever; /dev/zero never ends."""
    (tmp_path / "secret").write_text("the course's key")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    said = {}
    for name in ("link", "zero", "folder", "fifo"):
        with pytest.raises(NotSmallFile) as error:
            read_small(tmp_path / name, 100)
        said[name] = reason(error.value)
    assert said == {
        "link": "it is a link",
        "zero": "it is a link",
        "folder": "it is a folder, not a file",
        "fifo": "it is not a regular file",
    }
    with pytest.raises(NotSmallFile, match="not a regular file"):
        read_small("/dev/zero", 100)


def test_the_reason_is_a_few_words(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        read_small(tmp_path / "none", 10)
    assert reason(missing.value) == "No such file or directory"
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(UnicodeDecodeError) as undecodable:
        read_small_text(tmp_path / "latin", 10)
    assert reason(undecodable.value) == "it is not text in UTF-8"
