"""Proves hunts in whole models: the fault is seen, it stops nothing, the page in every style is right."""

from __future__ import annotations

import hashlib
import random
from dataclasses import asdict
from pathlib import Path

from autograder.hunts.faults import fault_operators
from autograder.hunts.page_judge import equivalent_sources
from autograder.hunts.page_run import RIGHT, PageBox, PageCase, PageResult, difference, differing_aspects
from autograder.hunts.page_symptom import describe, level
from autograder.hunts.pages import ModelPage, PageHunt, page, page_hunts
from autograder.hunts.prove import ExerciseProofs, Proof
from autograder.sandbox import choose
from autograder.sandbox.client import StudentError

SLIGHT = 1e-4  # relative: a smaller difference could be called rounding


def prove_page(name: str, seed: int, faults: int, sample: int | None) -> tuple[ExerciseProofs]:
    """Prove the page's hunts, `sample` of them where that is given. One box has all of them: they are our own."""
    of = page(name)
    found = list(page_hunts(of.name))
    if sample is not None and sample < len(found):
        found = sorted(random.Random(f"{seed}/{name}").sample(found, sample), key=lambda hunt: hunt.id)
    with PageBox(of, choose(trust=True)) as box:
        codes = {f"style_{index}": text for index, text in enumerate(equivalent_sources(of)[1:], 1)}
        box.add({RIGHT: of.source.text, **codes, **{f"fault_{at}": hunt.code for at, hunt in enumerate(found)}})
        case = box.case(seed)
        right = box.observe(RIGHT, case)
        wrong = [
            f"{style} differs from the page" for style in codes if differing_aspects(box.observe(style, case), right)
        ]
        proofs = [_proof(box, f"fault_{at}", hunt, case, right) for at, hunt in enumerate(found)]
    rows = [asdict(one) for one in proofs]
    for row in rows[:1]:
        row["complaints"] = (*row["complaints"], *wrong)
    return (ExerciseProofs(of.id, rows),)


def hash_of_page(of: ModelPage) -> str:
    """A hash of all that the proofs of its hunts depend on: the page, and the code that makes and judges hunts."""
    found = hashlib.sha256(of.source.text.encode() + repr(sorted(fault_operators())).encode())
    for file in sorted(Path(__file__).parent.glob("*.*")):
        found.update(file.read_bytes())
    return found.hexdigest()


def _proof(box: PageBox, module: str, hunt: PageHunt, case: PageCase, right: PageResult) -> Proof:
    complaints = (
        [] if hunt.changed_lines and all(hunt.fault_lines) else ["the code has no line that the repair changes"]
    )
    try:
        seen = box.observe(module, case)
    except StudentError as error:
        return Proof(hunt.id, hunt.changed_lines, 1, (), "", (f"the code stops: {error.message[:200]}",))
    wrong = differing_aspects(seen, right)
    if not wrong:
        complaints.append("nothing is seen of the fault")
    elif wrong in (("output",), ("output", "gradients")) and difference(seen.output, right.output) < SLIGHT:
        complaints.append("the difference is so small that it could be rounding")
    told = describe(hunt.page, seen, right)
    if wrong and not told.words:
        complaints.append("the symptom tells nothing")
    where = told.seen_in if wrong else ""
    return Proof(hunt.id, hunt.changed_lines, level(seen, right), wrong, where, tuple(complaints))
