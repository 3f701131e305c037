"""What the tools tell and refuse, with verdicts that are written down here in the place of the engine's."""

import ast
import json

import anyio
import pytest
from mcp import Client

from autograder.assistants.rules import AssistantRules
from autograder.assistants.secrecy import WITHHELD
from autograder.assistants.server import Refusal, Tutor, find, make_server
from autograder.assistants.statement import definition, statement_of, stub
from autograder.checking import assistant as engines
from autograder.exercises import registry

CAUSAL = "masks.causal"
CHECK = {"name": "right values", "status": "failed", "message": "off by 1", "points": 0.0, "of": 1.0, "map": []}
DEPARTURE = {"line": 2, "text": "x", "value": 3, "steps": [1]}
VERDICT = {
    "exercise": CAUSAL,
    "status": "failed",
    "score": 0.0,
    "max_score": 1.0,
    "checks": [CHECK],
    "misconception": "own_position_hidden",
    "hint": "Your positions may not see themselves.",
    "line": 2,
    "departure": DEPARTURE,
    "counterexample": {"call": "causal_mask"},
    "sandbox": "bubblewrap",
    "reason": "it raised in the student's words",
    "seed": 7,
}


class WrittenDown:
    """An engine that answers what it was given."""

    def __init__(self, verdict):
        self.verdict = verdict

    async def check(self, exercise, code, tell):
        await tell(0.0, "checking")
        return self.verdict


def tutor_of(tmp_path, hints=3, verdict=VERDICT) -> Tutor:
    return Tutor(AssistantRules(hints=hints, log=tmp_path / "log.jsonl"), WrittenDown(verdict))


def checked(tutor) -> dict:
    async def tell(seconds, message):
        pass

    return anyio.run(tutor.check, CAUSAL, "def causal_mask(length): ...", tell)


def test_help_is_what_the_course_gives(tmp_path):
    none, one = tutor_of(tmp_path, hints=0), tutor_of(tmp_path, hints=1)
    told = checked(none)
    assert (
        told["status"] == "failed" and told["misconception"] is None and told["hint"] is None and told["reason"] == ""
    )
    assert told["more"] == []
    with pytest.raises(Refusal, match="no help: step 1"):
        none.hint(CAUSAL, 1)
    assert checked(one)["misconception"] == "own_position_hidden"
    with pytest.raises(Refusal, match="the first step alone: step 2"):
        one.hint(CAUSAL, 2)


def test_each_step_adds_its_own_part_and_a_new_check_begins_again(tmp_path):
    tutor = tutor_of(tmp_path)
    assert "counterexample" not in checked(tutor) and "line" not in checked(tutor)
    second, third = tutor.hint(CAUSAL, 2), tutor.hint(CAUSAL, 3)
    assert second["line"] == 2 and second["departure"]["value"] is None
    assert third["counterexample"] == {"call": "causal_mask"} and third["departure"]["value"] == 3
    checked(tutor)
    with pytest.raises(Refusal, match="step 2 first"):
        tutor.hint(CAUSAL, 3)


def test_what_passed_needs_no_help(tmp_path):
    tutor = tutor_of(tmp_path, verdict={**VERDICT, "status": "passed"})
    assert checked(tutor)["more"] == []
    with pytest.raises(Refusal, match="was passed"):
        tutor.hint(CAUSAL, 2)


def test_an_id_that_is_close_is_suggested_and_a_long_one_is_not_repeated():
    with pytest.raises(Refusal, match="did you mean masks.causal"):
        find("masks.casual")
    with pytest.raises(Refusal, match="at most 80 characters") as caught:
        find("x" * 10_000)
    assert len(str(caught.value)) < 200


def test_a_verdict_with_lines_of_a_solution_in_it_loses_them_on_its_way_out(tmp_path, monkeypatch):
    line = "scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))"
    reference = definition(registry.find("attention.multi_head").references[0])
    body = "\n".join(map(ast.unparse, reference.body[-1].body[1:]))  # without its docstring
    verdict = {**VERDICT, "hint": f"It said:\n{body}", "checks": [{**CHECK, "message": repr(body)}]}

    async def check(self, exercise, code, tell):
        return verdict

    monkeypatch.setattr(engines.Engine, "check", check)
    monkeypatch.setattr(engines.Engine, "prepare", lambda self: anyio.sleep(0))
    server = make_server(AssistantRules(hints=3, log=tmp_path / "log.jsonl"))

    async def ask():
        async with Client(server) as client:
            first = await client.call_tool("check", {"exercise": CAUSAL, "code": line})
            return first, await client.call_tool("hint", {"exercise": CAUSAL, "level": 2})

    for found in anyio.run(ask):
        text = json.dumps(found.structured_content) + found.content[0].text
        assert WITHHELD in text
        assert not [one for one in body.splitlines() if len(one.strip()) > 20 and one.strip() in text]


def test_every_exercise_has_a_statement_without_a_body():
    for exercise in registry.exercises():
        shown = statement_of(exercise)
        assert shown.lesson.startswith("## "), exercise.id
        assert all(f" {symbol}(" in shown.code for symbol in exercise.symbols), exercise.id
        for reference in exercise.references:
            functions = [node for node in ast.walk(ast.parse(stub(reference))) if isinstance(node, ast.FunctionDef)]
            for function in functions:
                said = [ast.unparse(part) for part in function.body if not isinstance(part, ast.Expr)]
                assert said == ["raise NotImplementedError"], f"{exercise.id}: {function.name}"
