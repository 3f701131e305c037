"""The symptom of a fault in a whole model: the faulty page runs beside the right one with the same weights.

What is told: in which part the two differ first, whether two runs agree, which gradients are wrong, what it writes;
and of some faults how a small model with it learns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from autograder.feedback.translate import say
from autograder.hunts.page_run import (
    CLOSE,
    RIGHT,
    UNDER_TEST,
    PageBox,
    PageResult,
    difference,
    differences,
    differing_aspects,
)
from autograder.hunts.pages import ModelPage, PageHunt
from autograder.hunts.symptom import Symptom
from autograder.sandbox.base import Backend

STEPS, LENGTH, CONTINUED = 200, 24, 40  # of training; tokens of a row, and that are written
PROVED = 0  # the seed with which hunts are proved: with others, two models may write the same by chance
START = "a mask "
TEXT = (
    "a mask says which tokens a token may see. a causal mask hides the tokens that come later, because a model that "
    "sees the next token copies it and learns nothing. a padding mask hides what only fills the batch. the scores of "
    "hidden tokens become minus infinity, so that their weights are zero and the others sum to one. then the values "
    "are averaged with these weights, the heads are joined, and the result is added to the stream. each layer reads "
    "the stream, and each layer writes to it. in the end the stream says which token may come next. "
)
WEIGHTS = "Both have the same weights, which were drawn, and a small size: {size}."
FIRST = "It differs from the published model in the first part that is compared, `{first}`."
UNTIL = "It agrees with the published model up to `{last}`; the first part that differs is `{first}`."
ONLY_OUTPUT = "Every part agrees with the published model, but its output does not."
SAME_OUTPUT = "Its output is that of the published model."
SHAPE = "Its output has another shape."
NAN = "Its output has entries that are no numbers (NaN or infinite)."
BY = "At the output the largest difference is {by} % of the largest entry."
TWO_RUNS = "Two runs with the same input give different outputs."
GRADIENTS = "The gradients of {wrong} of {count} parameters differ from those of the published model."
NO_GRADIENT = "The gradient of `{name}` is {share} % of the right one in size."
WRITES = "Asked to go on, it writes {faulty}; the published model writes {right}."
WRITES_OTHERS = "Asked to go on, it does not write what the published model writes."
LEARNS = "Trained for {steps} steps on a short text, its loss is {faulty}; that of the published model is {right}."
GOES_ON = "Then it goes on from “{start}”: {written}"
RIGHT_GOES_ON = "The published model goes on: {written}"


def level(seen: PageResult, right: PageResult) -> int:
    """1 to 3: the less of the output is wrong, the harder the fault is to see."""
    by = difference(seen.output, right.output)
    return 3 if by <= CLOSE else 2 if by < 0.1 else 1


def page_task(hunt: PageHunt, seed: int, backend: Backend) -> dict[str, Any]:
    """What a student is shown of a hunt in a page; nothing in it names the fault. Raises StudentError."""
    return {
        "exercise": hunt.subject,
        "title": hunt.page.title,
        "seed": seed,
        "faults": 1,
        "symbols": ["page"],
        "code": hunt.code,
        "symptom": page_symptom(hunt, seed, backend).as_json(),
    }


def page_symptom(hunt: PageHunt, seed: int, backend: Backend) -> Symptom:
    """The symptom, by running page and published model in one box: both are ours. Raises StudentError."""
    with PageBox(hunt.page, backend) as box:
        box.add({RIGHT: hunt.repair, UNDER_TEST: hunt.code})
        for tried in (seed, PROVED):
            case = box.case(tried)
            seen, right = box.observe(UNDER_TEST, case), box.observe(RIGHT, case)
            if differing_aspects(seen, right):
                break
        found = describe(hunt.page, seen, right)
        if hunt.operator.trains and hunt.page.is_language_model:
            found = _with_training(found, hunt.page, box)
        return found


def describe(page: ModelPage, seen: PageResult, right: PageResult) -> Symptom:
    """The differences in sentences, and for each part how large they are."""
    bars = tuple((name, min(by, 10.0)) for name, by in differences(seen, right))
    wrong = differing_aspects(seen, right)
    words = [*_of_output(bars, seen, right)]
    if "evaluation" in wrong:
        words.append(say(TWO_RUNS))
    elif "gradients" in wrong and "output" not in wrong:
        words += _of_gradients(seen, right)
    if "writing" in wrong and seen.written is not None and right.written is not None:
        words.append(_of_writing(seen.written, right.written))
    size = ", ".join(f"{name}={value}" for name, value in page.size.items() if not isinstance(value, dict))
    return Symptom(wrong[0] if wrong else "output", words=tuple(words), notes=(say(WEIGHTS, size=size),), bars=bars)


def _of_output(bars: tuple[tuple[str, float], ...], seen: PageResult, right: PageResult) -> Iterator[str]:
    names = [name for name, _ in bars]
    wrong = next((at for at, (_, by) in enumerate(bars) if by > CLOSE), None)
    if wrong is None:
        yield say(SAME_OUTPUT)
        return
    if names[wrong] == "output" and wrong:
        yield say(ONLY_OUTPUT)
    elif wrong:
        yield say(UNTIL, last=names[wrong - 1], first=names[wrong])
    else:
        yield say(FIRST, first=names[wrong])
    by = difference(seen.output, right.output)
    if by == float("inf"):
        yield say(SHAPE if seen.output.shape != right.output.shape else NAN)
    else:
        yield say(BY, by=f"{100 * by:.2g}")


def _of_gradients(seen: PageResult, right: PageResult) -> Iterator[str]:
    wrong = [name for name, one in right.gradients.items() if difference(seen.gradients.get(name), one) > CLOSE]
    yield say(GRADIENTS, wrong=len(wrong), count=len(right.gradients))
    size = {name: float(right.gradients[name].norm()) for name in wrong}
    share = {name: float(seen.gradients[name].norm()) / size[name] for name in wrong if size[name]}
    if share:
        name = min(share, key=lambda one: share[one])
        yield say(NO_GRADIENT, name=name, share=f"{100 * share[name]:.2g}")


def _of_writing(seen: Any, right: Any) -> str:
    if not isinstance(seen, torch.Tensor) or seen.shape != right.shape:
        return say(WRITES_OTHERS)
    row = int((seen != right).any(-1).nonzero()[0])
    return say(WRITES, faulty=seen[row].tolist(), right=right[row].tolist())


def _with_training(found: Symptom, page: ModelPage, box: PageBox) -> Symptom:
    """Adds how the faulty model and the right one learn."""
    signs = sorted(set(TEXT))
    faulty = _learned(page, box, UNDER_TEST)
    right = _learned(page, box, RIGHT)
    words = [*found.words, say(LEARNS, steps=STEPS, faulty=f"{faulty[0][-1]:.2f}", right=f"{right[0][-1]:.2f}")]
    texts = ["".join(signs[one] for one in written) for _, written in (faulty, right)]
    words += [say(GOES_ON, start=START.strip(), written=texts[0]), say(RIGHT_GOES_ON, written=texts[1])]
    return replace(found, words=tuple(words), curves=(tuple(faulty[0]), tuple(right[0])))


def _learned(page: ModelPage, box: PageBox, module: str) -> tuple[list[float], list[int]]:
    """The losses, and the tokens with which it goes on."""
    signs = sorted(set(TEXT))
    text = torch.tensor([signs.index(one) for one in TEXT])
    start = torch.tensor([[signs.index(one) for one in START]])
    wide = {"d_model": 32, "d_ff": 64, "max_length": LENGTH + CONTINUED, "vocab_size": len(signs)}
    size = page.size | {name: value for name, value in wide.items() if name in page.size}
    losses, written = box.train(module, size, text, STEPS, LENGTH, start, CONTINUED)
    return [float(one) for one in losses], written[0].tolist()
