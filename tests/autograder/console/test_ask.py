"""An answer of a command is found among what else its process prints."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from autograder.console import ask as module
from autograder.console.ask import ask, last_object


class FailedError(RuntimeError):
    """No answer."""


def answered(monkeypatch: pytest.MonkeyPatch, out: str, err: str = "", code: int = 0) -> dict[str, Any]:
    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess:
        return subprocess.CompletedProcess(command, code, out, err)

    monkeypatch.setattr(module.subprocess, "run", run)
    return ask(["order", "masks.causal"], FailedError)


@pytest.mark.parametrize("around", ["{}", "a warning\n{}", "{}\n{{cut by a library", "{}\n[1, 2]\n3\nnull"])
def test_warnings_around_an_answer_are_passed_over(monkeypatch: pytest.MonkeyPatch, around: str) -> None:
    assert answered(monkeypatch, around.format('{"seed": 3}')) == {"seed": 3}


def test_without_an_answer_the_last_line_of_the_errors_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FailedError, match="^no exercise 'x'$"):
        answered(monkeypatch, "{cut", "a warning\nautograder: no exercise 'x'\n", 2)
    with pytest.raises(FailedError, match="it ended with status 3"):
        answered(monkeypatch, "", "", 3)


def test_the_last_object_that_fits_is_taken() -> None:
    output = '{"of": 1, "n": 1}\n{"of": 2}\n{"of": 1, "n": 2}\n{"of": 3}\n'
    assert last_object(output, lambda found: found["of"] == 1) == {"of": 1, "n": 2}
    assert last_object(output, lambda found: found["of"] == 9) is None
