"""Asks code that has the form of a contract the course's questions, with each value changed outside its box.

The adapter of `exercises.contracts` runs beside the student's code, which can skip it, take its place or answer it with
objects of its own. So an answer that passed with the adapter is asked again without it, in a box of its own, where only
plain values come out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch

from autograder.api import Contract, Exercise
from autograder.checks.compare import RaisedError, compare
from autograder.checks.probe import (
    FATAL,
    FORM_CHECK,
    Answer,
    Case,
    Check,
    CheckFault,
    Finding,
    Probe,
    collect_answers,
    observe,
)
from autograder.exercises.contracts import parameter_names
from autograder.sandbox.client import StudentError

CONTRACT_CHECK = Check("the form of the contract", lambda *_: [], shapes=1.0)  # whose shapes and types the checks judge
MOST = 8  # cases of each symbol that are asked again
Way = Literal["to_course", "from_course"]  # of a FormChange
ENDED = (*FATAL, "protocol")  # after these a box answers nothing more


class _ConvertingSubject:
    """A subject whose calls are converted from one form to another; all that has no form is left to it."""

    def __init__(self, subject: Any, exercise: Exercise) -> None:
        assert exercise.contract is not None
        self.subject, self._parameters, self._contract = subject, parameter_names(exercise), exercise.contract

    def limit_answer(self, size: int | None) -> None:
        """Delegates to the subject."""
        self.subject.limit_answer(size)

    def bind(self, source: str, names: list[str]) -> None:
        """Delegates to the subject."""
        self.subject.bind(source, names)

    def build(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Delegates to the subject: what a case's arguments are built from has no contract."""
        return self.subject.build(name, *args, **kwargs)


class ContractSubject(_ConvertingSubject):
    """A subject, boxed or local, whose code has the form of the exercise's contract, asked in the course's form.

    strict: a value that has no other form is an error, and not left as it is.
    """

    def __init__(self, subject: Any, exercise: Exercise, strict: bool = True) -> None:
        super().__init__(subject, exercise)
        self._strict = strict

    def build_loaded(
        self, name: str, args: Sequence[Any], state: dict[str, torch.Tensor] | None, dtype: torch.dtype | None = None
    ) -> ContractHandle:
        """An object of the class `name`, with these parameters."""
        made = self.subject.build_loaded(name, args, state, dtype)
        return ContractHandle(made, self._contract, self._parameters.get(name, ()), self._strict)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The function's value in the course's form, for arguments in the course's form."""
        args, kwargs = _in_own_form(self._contract, self._parameters.get(name, ()), args, kwargs)
        return _in_courses_form(self._contract, self.subject.call(name, *args, **kwargs), self._strict)


class ContractHandle:
    """An object whose `forward` has the form of the contract."""

    def __init__(self, handle: Any, contract: Contract, parameters: Sequence[str], strict: bool) -> None:
        self.handle, self._contract, self._parameters, self._strict = handle, contract, parameters, strict

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The object's value in the course's form, for arguments in the course's form."""
        args, kwargs = _in_own_form(self._contract, self._parameters, args, kwargs)
        return _in_courses_form(self._contract, self.handle(*args, **kwargs), self._strict)


class SubjectInOwnForm(_ConvertingSubject):
    """A subject in the course's form, such as the reference, asked in the form of the exercise's contract."""

    def build_loaded(
        self, name: str, args: Sequence[Any], state: dict[str, torch.Tensor] | None, dtype: torch.dtype | None = None
    ) -> HandleInOwnForm:
        """An object of the class `name`, with these parameters."""
        made = self.subject.build_loaded(name, args, state, dtype)
        return HandleInOwnForm(made, self._contract, self._parameters.get(name, ()))

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The function's value in the contract's form, for arguments in that form."""
        args, kwargs = _in_form(self._contract, self._parameters.get(name, ()), args, kwargs, "to_course")
        return _in_own_value(self._contract, self.subject.call(name, *args, **kwargs))


class HandleInOwnForm:
    """An object in the course's form, whose `forward` is asked in the form of the contract."""

    def __init__(self, handle: Any, contract: Contract, parameters: Sequence[str]) -> None:
        self.handle, self._contract, self._parameters = handle, contract, parameters

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The object's value in the contract's form, for arguments in that form."""
        args, kwargs = _in_form(self._contract, self._parameters, args, kwargs, "to_course")
        return _in_own_value(self._contract, self.handle(*args, **kwargs))

    def method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Delegates to the object: only `forward` has another form."""
        return self.handle.method(name, *args, **kwargs)


def case_in_own_form(exercise: Exercise, case: Case) -> Case | None:
    """The case with arguments in the form of the exercise's contract; None where one has no other form, as a layer.

    Where the result changes, all of it is asked for: which part is graded is only known in the course's form.
    """
    contract = exercise.contract
    if contract is None or case.method is not None or case.symbol not in exercise.symbols:
        return case
    names = parameter_names(exercise)[case.symbol]
    try:
        args, kwargs = _in_form(contract, names, case.args, case.kwargs, "from_course")
    except StudentError:
        return None
    if contract.result is not None:
        case = replace(case, select=None, graded_mask=None)
    return replace(case, args=args, kwargs=kwargs)


def follows_contract(exercise: Exercise, findings: Sequence[Finding], reference: Any, subject: Any) -> bool:
    """Whether `subject`, without the adapter, gives in the contract's form what `findings` say that it gave with it.

    Where the ordinary answers were right they must be so in a value that has another form. Where they were wrong they
    only have to be the same: a value of another type, which the adapter leaves as it is, is left so here.

    Raises StudentError if the code ended its box, which says nothing of its form, and CheckFault if none of the right
    answers can be asked again.
    """
    right = not any(finding.failed for finding in findings if finding.check.core)
    answers = _with_plain_values(exercise, findings, reference, right)
    pairs = [(_as_value(one.probe), one.expected if right else one.actual) for one in answers]
    if right and not pairs and any(finding.answers for finding in findings if finding.check.core):
        raise CheckFault(f"no case of {exercise.id} tells the form of its contract")
    values, *_ = collect_answers([(CONTRACT_CHECK, pairs)], ContractSubject(subject, exercise, strict=right))
    for one in values.answers:
        if isinstance(one.actual, RaisedError) and one.actual.kind in ENDED:
            raise StudentError(one.actual.kind, one.actual.message)
    return not values.failed


def _as_value(probe: Probe) -> Probe:
    return Probe(probe.case.value, probe.case, probe.tolerance, size=probe.size, in_double=probe.in_double)


def _with_plain_values(
    exercise: Exercise, findings: Sequence[Finding], reference: Any, right: bool
) -> Iterator[Answer]:
    """The answers that are the value of their case, which the contract changes, at most MOST of each symbol; only right
    ones, or those that came without an error."""
    found: Counter[str] = Counter()
    asked = sorted((one for one in findings if one.check.graded and one.check.name != FORM_CHECK),
                   key=lambda one: not one.check.core)  # fmt: skip
    for answer in (answer for finding in asked for answer in finding.answers):
        case, unwanted = answer.probe.case, answer.difference if right else isinstance(answer.actual, RaisedError)
        if unwanted or case.symbol not in exercise.symbols or case.method is not None or found[case.symbol] >= MOST:
            continue
        value = observe(reference, Probe(case.value, case))
        plain = not isinstance(value, RaisedError) and not compare(answer.expected, value, answer.probe.tolerance)
        if plain and _changes(exercise, case):
            found[case.symbol] += 1
            yield answer


def _changes(exercise: Exercise, case: Any) -> bool:
    """Whether the contract changes a value of this case, and all of those that it names can be changed."""
    contract = exercise.contract
    assert contract is not None
    try:
        args, kwargs = _in_own_form(contract, parameter_names(exercise)[case.symbol], case.args, case.kwargs)
    except StudentError:  # such as a layer, which only a box builds
        return False
    same = all(map(lambda one, other: one is other, (*args, *kwargs.values()), (*case.args, *case.kwargs.values())))
    return contract.result is not None or not same


def _in_own_form(
    contract: Contract, parameters: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return _in_form(contract, parameters, args, kwargs, "from_course")


def _in_form(
    contract: Contract, parameters: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any], way: Way
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments changed in one of the two ways of a FormChange. Raises StudentError where one has no other form."""
    names = [*parameters, *[""] * len(args)]  # further arguments have no names
    given = tuple(_argument(contract, name, value, way) for name, value in zip(names, args, strict=False))
    return given, {name: _argument(contract, name, value, way) for name, value in kwargs.items()}


def _argument(contract: Contract, name: str, value: Any, way: Way) -> Any:
    change = contract.change_of(name)
    return value if change is None or value is None else _changed(getattr(change, way), value)


def _in_own_value(contract: Contract, value: Any) -> Any:
    """The value in the contract's form; of another kind, as it is."""
    try:
        return value if contract.result is None else _changed(contract.result.from_course, value)
    except StudentError:
        return value


def _in_courses_form(contract: Contract, value: Any, strict: bool) -> Any:
    try:
        return value if contract.result is None else _changed(contract.result.to_course, value)
    except StudentError:
        if strict:
            raise
        return value


def _changed(expression: str, value: Any) -> Any:
    """The course's expression of a plain value. Raises StudentError where a value of this kind has no other form."""
    try:
        return eval(expression.format(x="x"), {"x": value})
    except Exception as error:
        raise StudentError("exception", f"{type(error).__name__}: {error}") from error
