"""A check consists of probes. Each puts one question to the reference and to the student, and compares the answers.

A probe does not depend on the subject: the reference, a student in a box and our own wrong answers have the same
methods. So a misconception is recognised when it gives the same answers to the same questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.utils._pytree import register_pytree_node, tree_flatten, tree_map

from autograder.api import UNCOMPARED, Property
from autograder.checks.compare import (
    MISSING_RETURN,
    Difference,
    RaisedError,
    Tolerance,
    WrongDevice,
    agree,
    compare,
    compare_form,
    compare_values,
    values_agree,
)
from autograder.checks.local import answer_sizes
from autograder.sandbox.client import StudentError
from autograder.sandbox.inside import wire
from autograder.sandbox.inside.agent import leaves

FORM_CHECK = "shapes and types"  # a separate check of the answers to other checks
FATAL = ("timeout", "memory", "crash")  # these end the box
TOLD = 64  # times what rounding may be off: an answer that is not so far off is asked in float64, too
OF_ROUNDING = "; in float64 it is right, so this is rounding alone"


class NotRun(Exception):
    """A check cannot be run on this subject; the message says why."""


class Draw:
    """The source of all random values in a check, from one seed."""

    def __init__(self, *seed: Any, reference: Any = None) -> None:
        self.reference = reference
        digest = hashlib.sha256("/".join(map(str, seed)).encode()).digest()
        self.generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))

    def normal(self, *shape: int) -> Tensor:
        """A float32 tensor of this shape, drawn from the standard normal distribution."""
        return torch.randn(shape, generator=self.generator)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """An int64 tensor of this shape, drawn uniformly from [low, high)."""
        return torch.randint(low, high, shape, generator=self.generator)

    def integer(self, low: int, high: int) -> int:
        """One int in [low, high)."""
        return int(self.integers(low, high, 1))

    def mask(self, *shape: int, empty_row: bool = False) -> Tensor:
        """A boolean mask in which every row has a True entry, except one row if `empty_row`."""
        mask = torch.rand(*shape, generator=self.generator) < 0.6
        visible = self.integers(0, shape[-1], *shape[:-1]).unsqueeze(-1)
        mask = mask.scatter(-1, visible, True)
        if shape[-1] > 1:  # mask something too, or the mask would not be tested
            mask = mask.scatter(-1, (visible + 1) % shape[-1], False)
        if empty_row:
            mask.view(-1, shape[-1])[-1] = False
        return mask

    def padding_mask(self, batch: int, length: int) -> Tensor:
        """Boolean [B,L]: real tokens first, then padding; the first row is full."""
        lengths = self.integers(1, length + 1, batch)
        lengths[0] = length
        if batch > 1 and length > 1:
            lengths[1] = min(int(lengths[1]), length - 1)
        return torch.arange(length)[None] < lengths[:, None]

    def module(self, symbol: str, init: tuple[Any, ...], args: tuple[Any, ...], **rest: Any) -> Case:
        """A case for a class, with random parameters in the reference's shapes."""
        state = {}
        for key, shape in _shapes(self.reference, symbol, init).items():
            offset = 1.0 if "norm" in key and key.endswith("weight") else 0.0
            state[key] = offset + 0.4 * self.normal(*shape)
        return Case(symbol, args, init=init, state=state, **rest)


_known_shapes: WeakKeyDictionary[Any, dict[Any, dict[str, tuple[int, ...]]]] = WeakKeyDictionary()


def _shapes(reference: Any, symbol: str, init: tuple[Any, ...]) -> dict[str, tuple[int, ...]]:
    """The shapes of the reference's parameters, cached where only numbers and strings determine them."""
    if not all(isinstance(one, int | float | str | None) for one in init):
        shapes: dict[str, tuple[int, ...]] = Case(symbol, (), init=init).build(reference).state_shapes()
        return shapes
    known = _known_shapes.setdefault(reference, {})
    key = symbol, tuple((type(one), one) for one in init)  # 1 is not True
    if key not in known:
        known[key] = Case(symbol, (), init=init).build(reference).state_shapes()
    return known[key]


@dataclass(frozen=True)
class Part:
    """An argument that is built where the student's code runs, such as a layer: the result of calling `name`, which
    `source` defines. Its own arguments may be parts: an optimizer's is the model."""

    source: str
    name: str
    args: tuple[Any, ...] = ()
    description: str = "a layer"  # its description in a counter-example

    def build(self, subject: Any, built: dict[int, Any] | None = None) -> Any:
        """The subject's own object; it can be passed to what the subject defines.

        built: the objects of this call by the id of their part, so that a part that is named twice is one object.
        """
        built = {} if built is None else built
        if id(self) not in built:
            args = _placed(self.args, subject, built)
            subject.bind(self.source, [self.name])
            built[id(self)] = subject.build(self.name, *args)
        return built[id(self)]

    def __str__(self) -> str:
        return self.description


@dataclass(frozen=True)
class Case:
    """One call: a function by name, or a class that is built, given parameters and called."""

    symbol: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    init: tuple[Any, ...] | None = None  # a class: its constructor's arguments
    state: dict[str, Tensor] | None = None
    method: str | None = None  # None: forward
    length: int = 16
    amplify: float = 1.0
    eps: float = 0.0
    scale: float = 0.0  # magnitude of the summed numbers, where they may cancel
    dtype: torch.dtype | None = None  # of a class's parameters, where not float32
    select: Callable[[Any], Any] | None = None  # the graded part of the value
    graded_mask: Tensor | None = None  # which positions of the value are graded

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance for answers to this case."""
        return Tolerance(self.length, self.amplify, self.eps, self.scale)

    def value(self, subject: Any) -> Any:
        """The answer of `subject` to this case. Raises StudentError if its code fails."""
        if self.init is None:
            return self._graded(subject.call(self.symbol, *self.arguments(subject), **self.kwargs))
        module = self.build(subject)
        call = module if self.method is None else lambda *args, **kwargs: module.method(self.method, *args, **kwargs)
        return self._graded(call(*self.args, **self.kwargs))

    def arguments(self, subject: Any) -> tuple[Any, ...]:
        """The arguments as the subject gets them."""
        return _placed(self.args, subject)

    def build(self, subject: Any) -> Any:
        """The object, with the case's parameters."""
        return subject.build_loaded(self.symbol, _placed(self.init or (), subject), self.state, self.dtype)

    def _graded(self, value: Any) -> Any:
        value = value if self.select is None else self.select(value)
        if self.graded_mask is None or not isinstance(value, Tensor) or value.shape[:-1] != self.graded_mask.shape:
            return value
        return value.masked_fill(~self.graded_mask.unsqueeze(-1), 0.0)

    def gradients(self, subject: Any, cotangents: list[Any]) -> Any:
        """Gradients of arguments, also of those in lists and keywords, and of parameters; a missing gradient counts as
        zero."""
        if self.init is None:
            args = self.arguments(subject)
            grads, parameters = subject.vjp(self.symbol, args, self.kwargs, cotangents)[1], {}
        else:
            args = self.args
            _, grads, parameters = self.build(subject).vjp(self.method, args, self.kwargs, cotangents)
        floats = leaves((args, self.kwargs))
        state = self.state or {}
        by_name = {
            f"gradient of {name}": _or_zeros(parameters.get(name), value)
            for name, value in state.items()
            if value.is_floating_point()
        }
        return {"gradient of input": [_or_zeros(grad, arg) for arg, grad in zip(floats, grads, strict=True)], **by_name}

    def to(self, change: Callable[[Tensor], Tensor]) -> Case:
        """The same case with `change` applied to every floating-point tensor."""
        return replace(self, args=on_floats(self.args, change), kwargs=on_floats(self.kwargs, change))

    def tensors(self) -> bool:
        """Whether the case has tensors that can be moved to a device."""
        return any(isinstance(leaf, Tensor) for leaf in tree_flatten((self.args, self.kwargs, self.state))[0])

    def size(self) -> int:
        """The number of numbers in the inputs."""
        return sum(
            leaf.numel() if isinstance(leaf, Tensor) else 1 for leaf in tree_flatten((self.args, self.kwargs))[0]
        )


def _placed(args: tuple[Any, ...], subject: Any, built: dict[int, Any] | None = None) -> tuple[Any, ...]:
    built = {} if built is None else built
    return tuple(arg.build(subject, built) if isinstance(arg, Part) else arg for arg in args)


def on_floats(tree: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The tree with `change` applied to its floating-point tensors."""
    return tree_map(lambda leaf: change(leaf) if isinstance(leaf, Tensor) and leaf.is_floating_point() else leaf, tree)


def float_leaves(tree: Any) -> list[Tensor]:
    """The floating-point tensors of a tree, depth first and mappings by key, which is also the order in a box."""
    return [leaf for leaf in leaves(tree) if leaf.is_floating_point()]


def _register(kind: type[wire.NamedContainer]) -> None:
    """Registers a user-defined structure as a node of torch's trees: its parts, and the object they came from."""

    def flat(value: Any) -> tuple[list[Any], Any]:
        """The parts of the object, and the object itself."""
        return wire.parts(value) or [], value

    def whole(items: Iterable[Any], value: Any) -> Any:
        """The object rebuilt from these parts."""
        left = iter(items)
        return value.map_items(lambda _: next(left))

    register_pytree_node(kind, flat, whole)


for _kind in (wire.NamedTupleCopy, wire.DictCopy, wire.MappingCopy):
    _register(_kind)


def _or_zeros(grad: Tensor | None, like: Tensor) -> Tensor:
    return torch.zeros_like(like) if grad is None else grad


@dataclass(frozen=True)
class Probe:
    """One question. `case` is what a counter-example may show."""

    ask: Callable[[Any], Any]
    case: Case
    tolerance: Tolerance = Tolerance()
    with_case: Callable[[Case], Probe] | None = None  # the same question about another case
    size: int | None = None  # bytes of the reference's largest answer, if measured
    answer: Any = None  # the reference's answer, where it was computed to ask the question
    in_double: Callable[[], Probe] | None = None  # the same question in float64, with the reference's answer
    # answers of programs of ours, by program: searches ask the same ones, and one answer is enough
    known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)


class CheckFault(RuntimeError):
    """The right answer itself cannot be: the grader is at fault, and no answer may be judged by it."""


@dataclass(frozen=True)
class Check:
    """One check of one property. A core check tests ordinary values; if it fails, no other check earns points."""

    name: str
    probes: Callable[[Draw, Any], Sequence[Probe]]  # (draws, the reference) -> questions
    weight: float = 1.0
    core: bool = False
    explain: Callable[[Any, Any], str] | None = None  # (expected, actual) -> what to tell; default: the difference
    graded: bool = True  # False: a difference is reported, but costs no points
    draw: Callable[[Any, Any], tuple[str, ...]] | None = None  # (expected, actual) -> rows of a picture
    not_run: str = ""  # why it can't be run on this device; then it has no questions
    property: Property = "values"
    later: str = ""  # a later unit that teaches it; until then it is not graded
    shapes: float = 0.0  # weight of a separate check of its answers' shapes and types; then this one checks only values


QuestionSet = tuple[Check, list[tuple[Probe, Any]]]  # a check, and each of its probes with the reference's answer


@dataclass(frozen=True)
class Answer:
    """The reference's and the student's answers to one probe."""

    probe: Probe
    expected: Any
    actual: Any
    difference: Difference | None


@dataclass(frozen=True)
class Finding:
    """A check with all its answers."""

    check: Check
    answers: tuple[Answer, ...]
    shrunk: Answer | None = None  # a simpler case than the generated ones, which fails in the same way

    @property
    def mismatches(self) -> list[Answer]:
        """The answers that differ, smallest inputs first."""
        return sorted((a for a in self.answers if a.difference), key=lambda answer: answer.probe.case.size())

    @property
    def failed(self) -> list[Answer]:
        """The differing answers that cost points."""
        return self.mismatches if self.check.graded else []

    @property
    def simplest(self) -> Answer | None:
        """The answer whose difference is reported: the shrunk one, or else the smallest."""
        return self.shrunk or next(iter(self.mismatches), None)

    @property
    def message(self) -> str:
        """The message about the simplest difference."""
        answer = self.simplest
        return "" if answer is None else self.message_of(answer)

    def message_of(self, answer: Answer) -> str:
        """What is told of an answer that differs: by the check itself, or the difference. No return is missing where
        None is right in other cases."""
        assert answer.difference is not None
        none_is_right = any(one.expected is None for one in self.answers)
        message = answer.difference.message
        return self.explanation(answer) or (message.replace(MISSING_RETURN, "") if none_is_right else message)

    def explanation(self, answer: Answer) -> str:
        """What the check itself says of an answer that differs; "" if it says nothing, or cannot read the answer."""
        if self.check.explain is None or isinstance(answer.actual, (RaisedError, WrongDevice)):
            return ""
        try:
            return self.check.explain(answer.expected, answer.actual)
        except CheckFault:
            raise
        except Exception:  # a student's answer may have any form, and one that can't be explained is still wrong
            return ""

    @property
    def map(self) -> tuple[str, ...]:
        """The picture of the simplest difference, if the check has one."""
        answer = self.simplest
        if answer is None or self.check.draw is None or isinstance(answer.actual, (RaisedError, WrongDevice)):
            return ()
        return self.check.draw(answer.expected, answer.actual)


def observe(subject: Any, probe: Probe) -> Any:
    """The subject's answer, which may be an exception of its own. Any other exception is a fault of the check."""
    subject.limit_answer(probe.size)
    try:
        return probe.ask(subject)
    except StudentError as error:
        return RaisedError(error.kind, error.message)
    finally:
        subject.limit_answer(None)


def observe_once(program: Hashable, subject: Callable[[], Any], probe: Probe) -> Any:
    """As `observe`, for a program of ours that answers alike whenever it is asked: then it is run at the first time
    alone. `subject` gives what is asked."""
    if program not in probe.known:
        probe.known[program] = observe(subject(), probe)
    return probe.known[program]


def is_crash(reply: Answer) -> bool:
    """Whether the student's code raised instead of answering."""
    return isinstance(reply.actual, RaisedError)


def behaves_like(actual: Any, reply: Answer) -> bool:
    """Whether `actual`, another subject's answer to the question, is the student's.

    The type of an exception says too little: nearly every crash in torch is a RuntimeError. So a crash that is wrong
    must have the same message, numbers aside; where an exception is right, any message is.
    """
    if not agree(actual, reply.actual, reply.probe.tolerance):
        return False
    if reply.difference is None or not isinstance(actual, RaisedError) or not isinstance(reply.actual, RaisedError):
        return True
    return actual.outline == reply.actual.outline


def questions(checks: Sequence[Check], reference: Any, seed: Any) -> Iterator[QuestionSet]:
    """Each check with its probes and the reference's answers. They can be put to any number of subjects."""
    for check in checks:
        try:
            yield check, _questions_of(check, reference, seed)
        except StudentError as error:
            device = getattr(reference, "device", "cpu")
            if device == "cpu":
                raise RuntimeError(f"the reference fails check {check.name!r}: {error.message}") from error
            yield replace(check, not_run=f"cannot be asked on {device}: {error.message}"), []


def _questions_of(check: Check, reference: Any, seed: Any) -> list[tuple[Probe, Any]]:
    """The check's probes with the reference's answers. Raises StudentError if it has none."""
    pairs = []
    for probe in check.probes(Draw(seed, check.name, reference=reference), reference):
        expected, size = probe.answer, probe.size
        if expected is None:
            expected, size = answer_with_size(probe.ask, reference)
        for leaf in tree_flatten(expected)[0]:
            if isinstance(leaf, WrongDevice):
                raise StudentError("device", f"the reference answers on {leaf.device}")
        pairs.append((replace(probe, size=size, answer=None), expected))
    return pairs


def answer_with_size(ask: Callable[[Any], Any], reference: Any) -> tuple[Any, int]:
    """The reference's answer, and the bytes of the largest part of it that leaves a box at once."""
    with answer_sizes() as sizes:
        answer = ask(reference)
    return answer, max(sizes, default=0)


def collect_answers(
    question_sets: Iterable[QuestionSet], subject: Any, enough: Callable[[Finding], bool] | None = None
) -> list[Finding]:
    """The subject's answers to all questions; if one kills its box, the remaining checks fail.

    `enough`: a finding after which no further check is put.
    """
    findings, dead = [], None
    for check, pairs in question_sets:
        answers: list[Answer] = []
        forms: list[Difference | None] = []
        for probe, expected in pairs:
            try:
                actual = dead or observe(subject, probe)
            except NotRun as why:
                check, answers, forms = replace(check, not_run=str(why)), [], []
                break
            if isinstance(actual, RaisedError) and actual.kind in FATAL:
                dead = actual
            difference = (compare_values if check.shapes else compare)(expected, actual, probe.tolerance)
            if difference is not None:
                difference = _without_rounding(subject, probe, expected, actual, difference)
            form = compare_form(expected, actual) if check.shapes else None
            # right answers are not kept, to save memory: the reference's answer serves as well
            kept = expected if difference is None and form is None else actual
            answers.append(Answer(probe, expected, kept, difference))
            forms.append(form)
            if dead:
                break
        findings.append(Finding(check, tuple(answers)))
        if check.shapes:
            findings.append(_of_form(check, answers, forms))
        if enough is not None and enough(findings[-1 - bool(check.shapes)]):
            break
    return findings


def _without_rounding(
    subject: Any, probe: Probe, expected: Any, actual: Any, difference: Difference
) -> Difference | None:
    """The difference of an answer that rounds, which is right in float64: None if it is off by a few eps of float32,
    and otherwise with a word that it is rounding. Any other difference stays as it is."""
    if difference.deviation is None or probe.in_double is None:
        return difference
    given = float_leaves((probe.case.args, probe.case.kwargs, probe.case.state or {}))
    if not given or any(one.dtype != torch.float32 for one in given):
        return difference

    def is_within(times: float) -> bool:
        """Whether the answer is off by so many times what is forgiven at most."""
        return values_agree(expected, actual, probe.tolerance.for_rounding(_largest(given), times))

    if not is_within(TOLD) or not _is_right_in_double(subject, probe):
        return difference
    return None if is_within(1.0) else replace(difference, message=difference.message + OF_ROUNDING)


def _is_right_in_double(subject: Any, probe: Probe) -> bool:
    assert probe.in_double is not None
    try:
        exact = probe.in_double()
    except StudentError:  # the reference cannot be asked in float64
        return False
    return values_agree(exact.answer, observe(subject, exact), exact.tolerance)


def _largest(values: Sequence[Tensor]) -> float:
    finite = [value[value.isfinite()].abs() for value in values]
    return max((float(value.max()) for value in finite if value.numel()), default=0.0)


def _of_form(check: Check, answers: Sequence[Answer], forms: Sequence[Difference | None]) -> Finding:
    """The separate check of the shapes and types of the same answers, without further calls."""
    pairs = [(answer, form) for answer, form in zip(answers, forms, strict=True) if not _raised(answer)]
    why = check.not_run or ("" if pairs else "your code gave no answer to look at")
    form = Check(FORM_CHECK, check.probes, check.shapes, explain=check.explain, not_run=why, property="shapes")
    return Finding(form, tuple(replace(answer, difference=difference) for answer, difference in pairs))


def _raised(answer: Answer) -> bool:
    return isinstance(answer.actual, RaisedError) and not isinstance(answer.expected, RaisedError)


def distinguishing_answers(findings: Sequence[Finding]) -> Iterator[tuple[Check, int, Answer]]:
    """The answers that distinguish two mistakes, each with its check and its index among the check's questions.

    Checks of purity and cost, and those in a coarse dtype, are left out, because right answers differ in them too.
    """
    for finding in findings:
        check = finding.check
        if check.graded and check.property not in UNCOMPARED and check.name != FORM_CHECK:
            yield from ((check, index, answer) for index, answer in enumerate(finding.answers))


def examine(checks: Sequence[Check], subject: Any, reference: Any, seed: Any) -> list[Finding]:
    """Put every probe of every check to the reference and to the subject."""
    return collect_answers(questions(checks, reference, seed), subject)
