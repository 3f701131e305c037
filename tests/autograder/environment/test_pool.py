"""Replies are judged apart from each other, alike each time, and with an explanation only where one is wanted."""

import asyncio
import json
import os
import signal
import sys
import threading
import time

import pytest

from autograder.api import Limits
from autograder.environment import Environment, EnvironmentClosed, pool
from autograder.exercises import registry
from autograder.exercises.answers import answers

ID = "masks.causal"
EXERCISE = registry.find(ID)
RIGHT = next(iter(answers(EXERCISE, "right"))).read_text()
WRONG = {path.stem: path.read_text() for path in answers(EXERCISE, "wrong")}
HOSTILE = {
    "an endless loop": "while True: pass",
    "an end of the process": "import os\nos._exit(0)",
    "a memory that fills": "hoard = bytearray(1 << 40)",
    "a flood of text": "print('x' * (1 << 24))\ndef causal_mask(length): print('x' * (1 << 24))",
    "a broken character": "def causal_mask(length): return '\ud800'",
    "an answer that is no code": "I can't help with that.",
    "a guess at the score": 'raise SystemExit(\'r{"status": "passed", "score": 1.0, "checks": []}\')',
}
# stand for the process that judges: one that ends in the middle of a reply or interrupts its owner, and one that never
# answers
DIES = """
import json, os, signal, time
from autograder.grade.process import serve
def answer(request):
    asked = json.loads(request)
    code = asked.get("code", "")
    "die" in code and os._exit(3)
    if "interrupt" in code:
        os.kill(os.getppid(), signal.SIGUSR1)
        time.sleep(0.5)
    status = "failed" if "wrong" in code else "passed"
    return json.dumps({"exercise": "masks.causal", "status": status, "score": 1, "max_score": 1, "checks": [],
                       "reason": "", "sandbox": "none", "hint": None, "remarks": []}).encode()
serve(answer, 1, {})
"""
HANGS = """
import json, time
from autograder.grade.process import serve
serve(lambda request: time.sleep(600 * bool(json.loads(request)["exercise"])) or b"{}", 1, {})
"""


@pytest.fixture(scope="module")
def environment():
    with Environment([ID], workers=2, limits=Limits(call_s=2)) as made:
        yield made


@pytest.fixture(scope="module")
def tutor():
    with Environment([ID, "attention.multi_head", "attention.split_heads"], workers=1, hints=2) as made:
        yield made


def test_a_right_reply_earns_all_and_a_wrong_one_what_its_checks_earn(environment):
    right, wrong = (
        environment.judge(ID, f"Here:\n```python\n{RIGHT}\n```"),
        environment.judge(ID, WRONG["sees_one_ahead"]),
    )
    assert right.passed and right.parts == {"score": 1.0, "passed": 1.0, "checks": 1.0, "judged": 1.0}
    assert wrong.status == "failed" and wrong.score == 0.0 and 0 < wrong.parts["checks"] < 1
    assert dict(wrong.checks)["right values"] == "failed"
    assert wrong.misconceptions == () and "failed, 0 of 1" in wrong.feedback
    assert json.loads(json.dumps(wrong.as_json()))["checks"] == dict(wrong.checks)


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_reply_earns_nothing(environment, code):
    outcome = environment.judge(ID, code)
    assert outcome.score == 0.0 and outcome.status == "failed" and len(outcome.feedback) <= 8000


def test_replies_at_the_same_time_get_the_outcomes_that_they_get_alone(environment):
    replies = [RIGHT, WRONG["sees_one_ahead"], "import os\nos._exit(1)", WRONG["marks_what_is_hidden"]] * 2

    async def at_once():
        return await asyncio.gather(*(environment.judge_async(ID, reply) for reply in replies))

    found = asyncio.run(at_once())
    assert found == [environment.judge(ID, reply) for reply in replies]
    assert [outcome.passed for outcome in found] == [True, False, False, False] * 2


def test_other_exercises_and_impossible_arguments_are_refused(environment):
    with pytest.raises(registry.UnknownExercise, match="not in this environment"):
        environment.judge("attention.attend", RIGHT)
    with pytest.raises(registry.UnknownExercise, match="no exercise is called"):
        environment.judge("no.such", RIGHT)
    with pytest.raises(registry.UnknownExercise):
        Environment(["no.such"])
    with pytest.raises(ValueError, match="hints=4"):
        Environment(hints=4)
    with pytest.raises(ValueError, match="workers=0"):
        Environment(workers=0)
    with pytest.raises(ValueError, match="turns=0 must be 1 or more"):
        asyncio.run(environment.rollout(ID, lambda messages: asyncio.sleep(0, RIGHT), turns=0))


def test_a_reply_that_is_too_long_is_not_run_and_is_told_so(environment):
    """Its verdict is that it has failed: it counts in training, so that the next message says so."""
    code = RIGHT + "#" * 300_000
    outcome = environment.judge(ID, code)
    assert (outcome.status, outcome.score, outcome.reason, outcome.parts["judged"]) == ("failed", 0.0, "", 1.0)
    assert outcome.feedback == f"your answer is too long: {len(code)} characters, more than {pool.LONGEST}"


def test_feedback_is_the_next_message_until_a_reply_passes(tutor):
    heard = []

    async def model(messages):
        """Corrects what it is told."""
        heard.append(messages)
        return WRONG["sees_one_ahead"] if len(heard) == 1 else f"```python\n{RIGHT}\n```"

    rollout = asyncio.run(tutor.rollout(ID, model, turns=5))
    assert [outcome.passed for outcome in rollout.outcomes] == [False, True] and rollout.score == 1.0
    assert rollout.outcomes[0].misconceptions == ("sees_one_ahead",)
    assert [message["role"] for message in rollout.messages] == ["user", "assistant", "user", "assistant"]
    assert heard[0] == tutor.tasks[0]["prompt"] and heard[1] == rollout.messages[:3]
    assert rollout.messages[2]["content"] == rollout.outcomes[0].feedback
    assert "autograder order" not in rollout.messages[2]["content"]


def test_hints_change_what_is_said_and_not_the_reward(environment, tutor):
    for name in ("sees_one_ahead", "marks_what_is_hidden"):
        plain, helped = environment.judge(ID, WRONG[name]), tutor.judge(ID, WRONG[name])
        assert (plain.score, plain.checks) == (helped.score, helped.checks)
        assert helped.misconceptions == (name,) and len(helped.feedback) > len(plain.feedback)


def test_right_answers_to_earlier_exercises_are_there_and_cannot_be_read(tutor):
    exercise = registry.find("attention.multi_head")
    right = next(iter(answers(exercise, "right"))).read_text()
    assert tutor.judge(exercise.id, right).passed
    spy = """
import inspect
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))
    def forward(self, query, key, value, mask=None):
        raise ValueError(inspect.getsource(split_heads))
"""
    outcome = tutor.judge(exercise.id, spy)
    assert not outcome.passed and ".transpose" not in outcome.feedback and ".view" not in outcome.feedback


def test_a_process_that_dies_costs_one_reply(monkeypatch):
    monkeypatch.setattr(pool, "COMMAND", (sys.executable, "-P", "-c", DIES))
    with Environment([ID], workers=1) as environment:
        lost = environment.judge(ID, "die")
        assert (lost.status, lost.score, lost.parts["judged"]) == ("not_graded", 0.0, 0.0)
        assert lost.reason == "the grading process ended with 3, 2 times"
        assert environment.judge(ID, "live").passed


def test_a_judgement_that_is_interrupted_gives_its_verdict_to_no_other_reply(monkeypatch):
    class OutOfTime(Exception):
        pass

    def interrupt(*_):
        raise OutOfTime

    monkeypatch.setattr(pool, "COMMAND", (sys.executable, "-P", "-c", DIES))
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with Environment([ID], workers=1) as environment:
            with pytest.raises(OutOfTime):
                environment.judge(ID, "interrupt")
            assert [environment.judge(ID, reply).status for reply in ("wrong", "live")] == ["failed", "passed"]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_closing_ends_what_is_judged(monkeypatch):
    monkeypatch.setattr(pool, "COMMAND", (sys.executable, "-P", "-c", HANGS))
    raised = []
    environment = Environment([ID], workers=1)

    def judge():
        with pytest.raises(EnvironmentClosed) as caught:
            environment.judge(ID, RIGHT)
        raised.append(caught.value)

    threads = [threading.Thread(target=judge) for _ in range(2)]  # one that is judged, and one that waits
    for thread in threads:
        thread.start()
    while environment._processes[0]._process is None:
        time.sleep(0.01)
    pid = environment._processes[0]._process.pid
    environment.close()
    for thread in threads:
        thread.join(30)
    assert len(raised) == 2
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(EnvironmentClosed):
        asyncio.run(environment.judge_async(ID, RIGHT))
