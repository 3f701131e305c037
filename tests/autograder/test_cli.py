"""The options of the commands that go on for long reach the code that carries them out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder import cli


def asked(patch: pytest.MonkeyPatch, place: str, *words: str) -> Any:
    """The options that the command passes to `place`."""
    found = []
    patch.setattr(place, lambda options, *_: found.append(options) or 0)
    with pytest.raises(SystemExit) as ended:
        cli.main(list(words))
    assert ended.value.code == 0
    (options,) = found
    return options


def test_the_service_is_told_what_to_send_and_where_to_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = ("serve", str(tmp_path), "--passback", "--listen", "127.0.0.1:9321", "--once")
    options = asked(monkeypatch, "autograder.serve.command.serve", *words)
    assert options.passback and options.listen == "127.0.0.1:9321" and options.once
    assert options.courses == (tmp_path,)
    assert not asked(monkeypatch, "autograder.serve.command.serve", "serve", str(tmp_path)).passback


def test_a_comparison_may_be_of_what_an_earlier_release_graded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = "autograder.cluster.verify.verify"
    assert asked(monkeypatch, place, "verify", str(tmp_path), "--upgraded").upgraded
    assert not asked(monkeypatch, place, "verify", str(tmp_path), "02-masks").upgraded


def test_a_renamed_notebook_is_taken_if_that_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = "autograder.cluster.command.grade"
    assert asked(monkeypatch, place, "grade", str(tmp_path), "02-masks", "--take-renamed").take_renamed
    assert not asked(monkeypatch, place, "grade", str(tmp_path), "02-masks").take_renamed
