"""`autograder environment judge` answers each line, whatever the others are."""

import json
import subprocess
import sys

import pytest

from autograder.environment import command, pool
from autograder.environment.pool import Environment

from .test_pool import DIES, ID, RIGHT, WRONG

HIDDEN = "own_position_hidden"
LINES = [
    (b'{"id": 7, "exercise": "masks.causal", "answer": "live"}', {"id": 7, "score": 1.0}),
    (b'{"id": "two", "exercise": "masks.causal", "answer": "die"}', {"id": "two", "status": "not_graded"}),
    (
        b'{"exercise": "masks.causal", "messages": [{"role": "assistant", "content": "die"}, '
        b'{"role": "assistant", "content": "live"}, {"role": "user", "content": "die"}]}',
        {"status": "passed"},
    ),
    (b'{"exercise": "masks.causal", "messages": [{"role": "user", "content": "live"}]}', {"error": "no message with"}),
    (b'{"id": [], "exercise": "no.such", "answer": "x"}', {"line": 5, "error": "no exercise is called 'no.such'"}),
    (b'{"exercise": "masks.causal"}', {"line": 6, "error": "`answer` must be text"}),
    (b'{"exercise": 3, "answer": ""}', {"line": 7, "error": "`exercise` must be text"}),
    (b"[" * 100_000, {"line": 8, "error": "the line is not JSON"}),
    (b"\xff\xfe", {"line": 9, "error": "the line is not JSON"}),
    (b"[1]", {"line": 10, "error": "the line is no JSON object"}),
    (b'{"exercise": "masks.causal", "answer": "' + b"x" * command.LONGEST_LINE + b'"}', {"line": 11, "error": "bytes"}),
    (b'{"exercise": "masks.causal", "answer": "live"}', {"status": "passed"}),
]
ASK = [sys.executable, "-c", "from autograder.cli import main; main()", "environment"]


def fits(found, expected):
    return all(value in found[key] if key == "error" else found[key] == value for key, value in expected.items())


def test_each_line_gets_an_answer_in_order(monkeypatch, tmp_path):
    monkeypatch.setattr(pool, "COMMAND", (sys.executable, "-P", "-c", DIES))
    file = tmp_path / "replies.jsonl"
    file.write_bytes(b"\n".join(line for line, _ in LINES))
    with Environment([ID], workers=2) as environment, file.open("rb") as stream:
        found = list(command._answers(environment, stream, 2))
    assert len(found) == len(LINES)
    assert [(one, expected) for one, (_, expected) in zip(found, LINES, strict=True) if not fits(one, expected)] == []


@pytest.mark.timeout(120)
def test_a_line_is_answered_before_the_next_one_comes():
    asked = [*ASK, "judge", "--hints", "2", "--workers", "1"]
    with subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for answer, score, named in ((WRONG[HIDDEN], 0.0, [HIDDEN]), (RIGHT, 1.0, [])):
            print(json.dumps({"exercise": ID, "answer": answer}), file=process.stdin, flush=True)
            said = json.loads(process.stdout.readline())
            assert said["score"] == score and said["misconceptions"] == named
        process.stdin.close()
        assert process.wait() == 0


def test_tasks_are_lines_of_json():
    done = subprocess.run([*ASK, "tasks", "--exercise", ID], capture_output=True, text=True, timeout=60)
    (task,) = map(json.loads, done.stdout.splitlines())
    assert task["exercise"] == ID and task["prompt"][0]["role"] == "user"
    done = subprocess.run([*ASK, "tasks", "--exercise", "no.such"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "no exercise is called 'no.such'" in done.stderr
