"""Trains a submission's `LanguageModel` in a box and measures it from outside.

The score is reliable for these reasons. The training text is generated after the student's code was loaded, so the code
cannot contain it. The test text is generated after training and sent byte by byte: a byte is sent only after the
probabilities for it were received, so the model cannot look ahead. Each answer must be a distribution over 256 bytes to
count, and the grader adds up the bits. The entropy of the text is known, so a result below it is rejected.
"""

from __future__ import annotations

import ast
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from autograder.api import Limits
from autograder.capstone.language import SyntheticLanguage
from autograder.exercises import injected_modules, registry
from autograder.exercises.parse import parse_source
from autograder.sandbox.base import Backend
from autograder.sandbox.client import Cell, Handle, SandboxClient, StudentError
from autograder.settings.capstone import Terms

SYMBOL = "LanguageModel"
BYTES = 256
SUM = 1e-3  # tolerance for the sum of the probabilities
PREFIX_TOLERANCE = 1e-3  # tolerance for two answers to the same prefix
TIME_SLACK = 1.25  # multiple of the budget before `fit` is stopped, since it may measure its own time on a busy machine
ENTROPY_TOLERANCE = 0.1  # bits per byte by which a result may be below the text's entropy by chance
BACKSTOP = 10.0  # wall time as a multiple of the budget, for shared machines
ANSWER_S = 20.0  # for the probabilities after 64 prefixes, at most; all of them together are in the budget
EVALUATION, EVALUATION_S = 0.25, 3.0  # added to the budget for all answers together: a multiple of it, and seconds


@dataclass(frozen=True)
class CapstoneScore:
    """bits: per byte of new text; floor: the entropy of the text; points, of: by the terms' bands; reason: a sentence
    on what stopped it; seconds: processor time of `fit`; listed, called: the student's wishes for the leaderboard."""

    bits: float | None = None
    floor: float | None = None
    points: float = 0.0
    of: float = 0.0
    seconds: float | None = None
    reason: str = ""
    listed: bool = False
    called: str = ""

    @property
    def excess(self) -> float | None:
        """Bits per byte above the text's entropy."""
        return None if self.bits is None or self.floor is None else self.bits - self.floor

    def as_json(self) -> dict[str, Any]:
        """The object that is stored and printed."""
        return {**asdict(self), "excess": self.excess}


class CapstoneError(Exception):
    """The submission gets no points; the message says why, to the student."""


def judge(sources: Sequence[str], backend: Backend, terms: Terms, seed: int | str | None = None) -> CapstoneScore:
    """The result of the cells `sources`. seed: of the language and of both texts; random by default."""
    seed = secrets.token_hex(16) if seed is None else seed
    limits = Limits(
        wall_s=BACKSTOP * terms.seconds + 900, call_s=ANSWER_S, backstop=BACKSTOP, memory_mb=terms.memory_mb
    )
    result = CapstoneScore(of=terms.points, **leaderboard_choices(sources))
    try:
        with SandboxClient(backend, limits) as student:
            model, before = _load(student, sources), student.usage().cpu_s
            language = SyntheticLanguage(seed)
            seconds = _train(student, model, language.text(terms.letters, f"{seed}/train")[0], terms)
            pieces, floor = _pieces(language, terms, f"{seed}/new")
            bits = _bits(model, pieces, lambda: _check_budget(student.usage().cpu_s - before, terms))
    except CapstoneError as refusal:
        return replace(result, reason=str(refusal))
    except StudentError as error:
        return replace(result, reason=f"your code stopped with {error.kind}: {error.message}")
    if bits < floor - ENTROPY_TOLERANCE:
        message = (
            f"{bits:.2f} bits per byte is below the entropy of the text ({floor:.2f}): no model can predict so well"
        )
        return replace(result, reason=message)
    return replace(result, bits=bits, floor=floor, seconds=seconds, points=terms.points_for(bits - floor))


def _check_budget(used: float, terms: Terms) -> None:
    """Training while it is evaluated, or in a process that goes on, must not be worth more than training in `fit`.

    The time is that of the whole box. Raises CapstoneError.
    """
    most = (TIME_SLACK + EVALUATION) * terms.seconds + EVALUATION_S
    if used > most:
        raise CapstoneError(
            f"`fit` and `log_probs` together used {used:.0f} s of processor time, and {most:g} s are allowed for a "
            f"budget of {terms.seconds:g} s: `log_probs` must only evaluate, and no process may go on after `fit`"
        )


def leaderboard_choices(sources: Sequence[str]) -> dict[str, Any]:
    """The student's choices for the leaderboard, parsed and not run: LEADERBOARD = True, LEADERBOARD_NAME = "…"."""
    choices: dict[str, Any] = {}
    for source in sources:
        try:
            tree = parse_source(source)
        except SyntaxError:
            continue
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                choices |= {target.id: node.value.value for target in node.targets if isinstance(target, ast.Name)}
    name = choices.get("LEADERBOARD_NAME")
    called = " ".join(name.split())[:40] if isinstance(name, str) else ""
    return {"listed": choices.get("LEADERBOARD") is True, "called": called}


def _load(student: SandboxClient, sources: Sequence[str]) -> Handle:
    references = dict.fromkeys(reference for one in registry.exercises() for reference in one.references)
    student.inject(injected_modules.modules([one for one in references if one.startswith("tfkit.")]))
    outcomes = student.run_cells([Cell(f"cell-{index}", source) for index, source in enumerate(sources)])
    errors = [cell.error for cell in outcomes if cell.error]
    if not student.alive or student.kind(SYMBOL) != "class":
        cause = f": a cell stopped with {errors[0]}" if errors else ""
        raise CapstoneError(f"no class `{SYMBOL}` is defined{cause}")
    return student.build(SYMBOL)


def _train(student: SandboxClient, model: Handle, text: str, terms: Terms) -> float:
    """Trains -> the processor seconds of `fit`."""
    ids = torch.tensor(list(text.encode("ascii")))
    before = student.usage().cpu_s
    try:
        model.method_with_limit(TIME_SLACK * terms.seconds, "fit", ids, terms.seconds)
    except StudentError as error:
        if error.kind == "timeout":
            raise CapstoneError(
                f"`fit` was stopped after {TIME_SLACK * terms.seconds:g} s of processor time; the budget is "
                f"{terms.seconds:g} s: check time.process_time() in your training loop"
            ) from None
        raise CapstoneError(f"`fit` stopped with {error.kind}: {error.message}") from None
    return round(student.usage().cpu_s - before, 1)


def _pieces(language: SyntheticLanguage, terms: Terms, seed: str) -> tuple[torch.Tensor, float]:
    """New text: int64 [windows, length], each piece starting after a sentence, and the text's entropy in bits per
    byte."""
    texts = [language.text(terms.length, f"{seed}/{number}") for number in range(terms.windows)]
    floor = sum(bits for _, bits in texts) / sum(len(text) for text, _ in texts)
    rows = [list(("\n" + text)[: terms.length].encode("ascii")) for text, _ in texts]
    return torch.tensor(rows), floor


def _bits(model: Handle, pieces: torch.Tensor, check_budget: Callable[[], None]) -> float:
    """Bits per byte of the pieces: each byte is predicted from all earlier ones, before it is sent."""
    total, kept = 0.0, {}
    for t in range(1, pieces.size(1)):
        answer = check_distribution(model.method("log_probs", pieces[:, :t].clone()), pieces.size(0), t)
        check_budget()
        total -= answer.gather(1, pieces[:, t : t + 1]).sum().item()
        if t in (3, pieces.size(1) // 2):
            kept[t] = answer
    for t, before in kept.items():  # request the prefix alone again, after other requests
        again = check_distribution(model.method("log_probs", pieces[1:2, :t].clone()), 1, t)
        if not torch.allclose(again.exp(), before[1:2].exp(), atol=PREFIX_TOLERANCE):
            raise CapstoneError(
                "the same prefix got other probabilities later, when it was the only row: rows of a batch must not "
                "affect one another, and a model must not learn while it is evaluated (is it in eval mode?)"
            )
    bits = total / math.log(2) / (pieces.size(0) * (pieces.size(1) - 1))
    if not math.isfinite(bits):
        raise CapstoneError(
            "a byte that occurred has probability 0, which costs infinitely many bits: give every byte a positive "
            "probability"
        )
    return bits


def check_distribution(answer: Any, rows: int, length: int) -> torch.Tensor:
    """The answer as float64 log-probabilities [rows, 256]. Raises CapstoneError if it is not a distribution."""
    where = f"`log_probs` of {rows} prefixes of {length} bytes"
    if not isinstance(answer, torch.Tensor) or not answer.is_floating_point():
        raise CapstoneError(f"{where} must be a floating-point tensor, and is a {type(answer).__name__}")
    if list(answer.shape) != [rows, BYTES]:
        raise CapstoneError(f"{where} must have shape [{rows},{BYTES}], and has {list(answer.shape)}")
    answer = answer.detach().double().cpu()
    if answer.isnan().any():
        raise CapstoneError(f"{where} contains NaN")
    total = answer.exp().sum(1)
    if not torch.allclose(total, torch.ones_like(total), atol=SUM):
        worst = total[(total - 1).abs().argmax()].item()
        raise CapstoneError(
            f"{where}: the probabilities of a row sum to {worst:.4g} instead of 1: is log_softmax missing?"
        )
    return answer
