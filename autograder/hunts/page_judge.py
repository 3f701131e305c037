"""Grades what is handed in for a hunt in a whole model.

The repair is right if it computes what the page computes, with several weights and inputs: the whole output, twice,
the gradients, and what it writes. The test is run on the page in several styles, on the faulty code, and on the other
faults of this page. The verdict is formed outside the boxes.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator

from autograder.api import Limits, Status
from autograder.feedback.translate import say
from autograder.hunts.judge import (
    CHANGED,
    REPAIR_OF,
    REPAIRED_PAGE,
    STILL,
    HuntPart,
    HuntSubmission,
    HuntVerdict,
    judge_lines,
    judge_part_test,
    left_out,
)
from autograder.hunts.make import changed_lines
from autograder.hunts.own_test import (
    MAX_OTHERS,
    OTHER_PARAMETER,
    RUN_TEST,
    BadTest,
    StudentTest,
    TestReport,
    functions_of,
    report_on,
)
from autograder.hunts.page_run import (
    CASES,
    CLOSE,
    RIGHT,
    UNDER_TEST,
    PageBox,
    PageResult,
    differences,
    differing_aspects,
)
from autograder.hunts.pages import ModelPage, PageHunt, page_hunts
from autograder.sandbox.base import Backend
from autograder.sandbox.client import SandboxClient, StudentError

PARAMETERS = ("page", "answer")  # of a test: the module with the page's classes
PRELUDE = f"import math, torch; from torch import nn, Tensor; import {UNDER_TEST} as page\n"
CALL = "def run_{name}(): {name}({arguments})\n"
LIMITS = Limits(call_s=10.0)
NOT_EQUAL = "With the same drawn weights it does not compute what the published model computes: {what}."
WHERE = "`{first}` is the first part that differs"
KINDS = {
    "output": "its output differs",
    "evaluation": "two runs with the same input differ",
    "gradients": "its gradients differ",
    "writing": "it writes other tokens",
}
FAILS = "The repaired code cannot be run in the page's place: {error}"


def judge_page(hunt: PageHunt, submission: HuntSubmission, backend: Backend) -> HuntVerdict:
    """The verdict on all three parts."""
    parts = (
        judge_lines(hunt, submission.lines),
        judge_part_test(submission.test, lambda source: judge_page_test(hunt, read_page_test(source), backend)),
        judge_page_repair(hunt, submission.repair, backend),
    )
    passed = all(part.status == "passed" for part in parts if part.name != "lines")
    status: Status = "passed" if passed else "failed"
    return HuntVerdict(hunt.subject, status, parts, backend.name)


def judge_page_repair(hunt: PageHunt, source: str | None, backend: Backend) -> HuntPart:
    """All points for code that computes the same as the page, none for other code."""
    if source is None or not source.strip():
        return left_out("repair", REPAIR_OF)
    count = changed_lines(hunt.code, source)
    if not count:
        return HuntPart("repair", "failed", 0.0, REPAIR_OF, (say(STILL),))
    if why := why_not_equal(hunt.page, source, backend):
        return HuntPart("repair", "failed", 0.0, REPAIR_OF, (why,))
    words = (say(REPAIRED_PAGE, count=len(CASES)), say(CHANGED, count=count, least=hunt.changed_lines))
    return HuntPart("repair", "passed", REPAIR_OF, REPAIR_OF, words)


def why_not_equal(page: ModelPage, source: str, backend: Backend) -> str:
    """In what this code differs from the page, as a sentence; "" if in nothing.

    What is right is computed in another box, so that the code which is handed in cannot read it.
    """
    with PageBox(page, backend) as box:
        box.add({RIGHT: page.source.text})
        cases = [box.case(seed) for seed in CASES]
        right = [box.observe(RIGHT, case) for case in cases]
    with PageBox(page, backend) as box:
        try:
            box.add({UNDER_TEST: source})
            for case, expected in zip(cases, right, strict=True):
                seen = box.observe(UNDER_TEST, case)
                if wrong := differing_aspects(seen, expected):
                    return _sentence(wrong, seen, expected)
        except StudentError as error:
            return say(FAILS, error=error.message[:300])
    return ""


def _sentence(wrong: tuple[str, ...], seen: PageResult, expected: PageResult) -> str:
    what = [say(KINDS[kind]) for kind in wrong]
    first = next((name for name, by in differences(seen, expected) if by > CLOSE), "output")
    if first != "output":
        what.append(say(WHERE, first=first))
    return say(NOT_EQUAL, what="; ".join(what))


# -- the test --------------------------------------------------------------------------------------------------------
def read_page_test(source: str) -> StudentTest:
    """The test in this source: functions `test…(page)`. Raises BadTest."""
    found = functions_of(source)
    for node in found:
        for argument in (*node.args.posonlyargs, *node.args.args):
            if argument.arg not in PARAMETERS:
                known = f" {say('or')} ".join(f"`{one}`" for one in PARAMETERS)
                raise BadTest(say(OTHER_PARAMETER, function=node.name, name=argument.arg, known=known))
    counts = ((node.name, len(node.args.posonlyargs) + len(node.args.args)) for node in found)
    return StudentTest(source, tuple((name, ("page",) * count) for name, count in counts))


def judge_page_test(hunt: PageHunt, test: StudentTest, backend: Backend, seed: int = 0) -> TestReport:
    """Run the test on the page in its styles, on the hunt's code, and on other faults of the page."""
    others = [(one.fault, one.code) for one in _others(hunt, seed)]
    styles = equivalent_sources(hunt.page)
    return report_on(hunt, styles, others, seed, lambda code: run_page_test(code, test, backend))


def _others(hunt: PageHunt, seed: int) -> Iterator[PageHunt]:
    """Other faults of the page."""
    among = [one for one in page_hunts(hunt.page.name) if one.fault != hunt.fault]
    chosen = random.Random(f"{seed}/{hunt.id}").sample(among, min(MAX_OTHERS, len(among)))
    yield from sorted(chosen, key=lambda one: one.fault)


def run_page_test(code: str, test: StudentTest, backend: Backend) -> StudentError | None:
    """What stopped the test on this code, in a new box; None if it passed."""
    calls = "".join(CALL.format(name=name, arguments=", ".join(given)) for name, given in test.functions)
    with SandboxClient(backend, LIMITS) as box:
        try:
            box.inject({UNDER_TEST: code})
            names = [f"run_{name}" for name, _ in test.functions]
            box.bind(PRELUDE + RUN_TEST.format(source=test.source) + calls, names)
            for name in names:
                box.call(name)
        except StudentError as error:
            return error
    return None


def equivalent_sources(page: ModelPage) -> list[str]:
    """The page in several styles: as it stands, without comments in the layout of `ast`, and with other words for the
    same operations."""
    text = page.source.text
    other = re.sub(r"math\.sqrt\(((?:[^()]|\([^()]*\))+)\)", r"(\1) ** 0.5", text).replace(".transpose(-2, -1)", ".mT")
    other = other.replace("F.silu(", "torch.nn.functional.silu(")
    return list(dict.fromkeys([text, ast.unparse(ast.parse(text)) + "\n", other]))
