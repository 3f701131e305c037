"""What a student is shown of a hunt, as a JSON object; nothing in it names a fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autograder.diagnosis.limit import TimeLimitExceeded
from autograder.exercises.contracts import full_id
from autograder.feedback.translate import say, title_of, translate_text
from autograder.hunts.make import Hunt
from autograder.hunts.symptom import symptom

CONTRACT = (
    "The code is in the form of your contract, in which your test and your repair have to be, too: {contract} What it "
    "gives is shown in the form of the lesson's text."
)


class NoSymptom(Exception):
    """Nothing is seen of a hunt's fault with these inputs, or its code does not end with them."""


def task(hunt: Hunt, seed: int) -> dict[str, Any]:
    """The hunt's code and its symptom. Raises NoSymptom."""
    try:
        seen = symptom(hunt, seed)
    except TimeLimitExceeded:
        raise NoSymptom(
            f"{hunt.exercise.id}, seed {seed}: the code does not end with these inputs; take another seed"
        ) from None
    if seen is None:
        raise NoSymptom(f"{hunt.exercise.id}, seed {seed}: nothing is seen of the fault; take another seed")
    if contract := hunt.exercise.contract:
        told = say(CONTRACT, contract=translate_text(contract.sentence, hunt.exercise.folder))
        seen = replace(seen, notes=(*seen.notes, told))
    return {
        "exercise": full_id(hunt.exercise),
        "title": title_of(hunt.exercise),
        "seed": seed,
        "faults": len(hunt.faults),
        "symbols": list(hunt.exercise.symbols),
        "code": hunt.code,
        "symptom": seen.as_json(),
    }
