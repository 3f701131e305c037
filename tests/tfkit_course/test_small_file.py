"""A file that somebody else wrote is read whole or refused at once, whatever it is."""

from __future__ import annotations

import os
import pwd

import pytest

from tfkit_course.small_file import (
    NotSmallFile,
    has_name_of,
    is_of,
    parse_json,
    read_notebook_cells,
    read_small,
    read_small_text,
    reason,
)


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


def test_json_that_costs_a_hundred_times_its_size_is_refused_before_it_is_parsed():
    assert parse_json('{"a": [1, 2]}') == {"a": [1, 2]}
    lists = "[" + "[],[]," * 400_000 + "1]"
    for text, why in ((lists, "more than 1,000,000 values"), ("[" * 9000 + "]" * 9000, "deeply"), ("{", "Expecting")):
        with pytest.raises(ValueError, match=why):
            parse_json(text)


def test_the_cells_of_a_notebook_have_the_kinds_that_readers_rely_on(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text('{"cells": [{"cell_type": "code", "source": ["x"], "metadata": {}}]}')
    assert read_notebook_cells(path, 1000)[0]["source"] == ["x"]
    for bad in ('{"cells": [{"cell_type": "code", "source": 3, "metadata": {}}]}', '{"cells": [3]}', "[]", "3",
                '{"cells": [{"cell_type": "code", "source": "", "metadata": []}]}'):  # fmt: skip
        path.write_text(bad)
        with pytest.raises(ValueError, match="not a notebook"):
            read_notebook_cells(path, 1000)


def test_a_shared_file_is_named_by_its_user_one_token_and_the_suffix():
    assert has_name_of("shared/ada.0123.json", "ada") and has_name_of("ada.lovelace.0123.progress.json", "ada.lovelace")
    others = ("ada.lovelace.0123.json", "ada.lovelace.0123.progress.json", "ada.json", "adage.0123.json")
    assert not [name for name in others if has_name_of(name, "ada")]


def test_a_file_of_another_account_is_not_the_users(tmp_path):
    (tmp_path / "a").write_text("")
    other = next(one.pw_name for one in pwd.getpwall() if one.pw_uid != os.getuid())
    mine = pwd.getpwuid(os.getuid()).pw_name
    said = [is_of(tmp_path / "a", name) for name in (mine, other, "nobody has this name", "a\0b")]
    assert said == [True, False, True, True] and not is_of(tmp_path / "none", mine)
