"""Files are replaced whole or stay as they were."""

import json

import pytest

from autograder.feedback.files import replace_json, replace_text


def test_a_file_is_replaced_with_its_folder_and_mode(tmp_path):
    path = tmp_path / "new" / "a.json"
    for mode in (0o644, 0o600):
        replace_json(path, {"mode": mode}, mode)
        assert json.loads(path.read_text()) == {"mode": mode} and path.stat().st_mode & 0o777 == mode
    assert list(path.parent.iterdir()) == [path]


def test_a_text_that_cannot_be_written_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "a.txt"
    replace_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        replace_text(path, "half \ud800")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
