"""Whether a call leaves its arguments, the random state and torch unchanged, judged by what is computed after it."""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy
import torch
from numpy.random.mtrand import get_bit_generator
from torch import Tensor
from torch.utils._pytree import tree_flatten

from autograder.checks import afterwards
from autograder.checks.compare import Tolerance, compare
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Case, Check, CheckFault, Probe, answer_with_size
from autograder.checks.properties._probes import Cases
from autograder.checks.reference import parameters_of

NOTHING: dict[str, list[Any]] = {"arguments": [], "random numbers": [], "settings": [], "library": []}
SEED = 20170612  # known seed, so that the grader knows the next random numbers in a box
LIBRARY = Tolerance(length=64, amplify=8.0)  # for the same sums, possibly on a GPU
PYTHONS = random.random.__self__  # type: ignore[attr-defined]  # the generator behind the module's functions
MATRIX = torch.randn(5, 5, generator=torch.Generator().manual_seed(SEED))


def purity(cases: Cases, weight: float = 1.0) -> Check:
    """Arguments, random numbers and torch's global settings are as they were before the call.

    A box could lie about that. So the arguments stay in the box: they must give the same answer again, and must read
    back as they were sent. Later random numbers, new tensors, gradients and library functions must be the same as after
    no change at all. A change without such a consequence (the number of threads) costs nothing.
    """
    probes = lambda draw, reference: [_probe(case, reference) for case in cases(draw)]
    return Check("no side effects", probes, weight, explain=_explain, property="purity")


def _probe(case: Case, reference: Any) -> Probe:
    """The question about this case. The right answer is always NOTHING: it never depends on what else goes on in the
    grader's process. The reference only tells how large an answer may be."""
    ask = partial(_traces, case, parameters_of(case, reference))
    return Probe(ask, case, size=answer_with_size(ask, reference)[1], answer=NOTHING)


def keep_in_subject(subject: Any, value: Any) -> Any:
    """Keeps a tensor, list or dict with the subject for several calls; returns anything else as it is."""
    if not isinstance(value, (Tensor, list, tuple, dict)):
        return value
    return subject.keep([value])[0]


def changed_in_subject(subject: Any, sent: Any, there: Any) -> bool:
    """Whether a kept argument differs from what was sent; one that cannot be sent back is ignored."""
    if there is sent:
        return False
    subject.bind(_source(), ["given_kept"])
    return compare([sent], subject.call("given_kept", [there])) is not None


@cache
def _source() -> str:
    return Path(afterwards.__file__).read_text(encoding="utf-8")


def _traces(case: Case, names: Sequence[str], subject: Any) -> dict[str, Any]:
    """What the call changed, judged by later computations; `names`: of its positional arguments."""
    subject.bind(_source(), afterwards.NAMES)
    own = isinstance(getattr(subject, "subject", subject), LocalSubject)
    found = _traces_here(case, subject) if own else _traces_in_box(case, subject)
    return {**found, "arguments": [names[one] if isinstance(one, int) else one for one in found["arguments"]]}


def _traces_in_box(case: Case, subject: Any) -> dict[str, Any]:
    """The traces in a student's process, where we can seed all generators and ask for the numbers that follow."""
    wanted = _expected()  # before any other code has run

    def observed(call: Callable[[], list[Any]]) -> tuple[list[Any], dict[str, list[str]]]:
        """The answer, and what differs after the call."""
        subject.call("given_seed", SEED)
        answer = call()
        return answer, _differing(wanted, subject.call("given_after", MATRIX))

    return _traces_of(case, subject, observed)


def _traces_here(case: Case, subject: Any) -> dict[str, Any]:
    """The traces of trusted code in this process, whose global generators other threads may use at the same time:
    nothing is seeded, and only what this thread draws counts. Torch stays as it was."""
    expected = _expected()  # before any other code has run

    def observed(call: Callable[[], list[Any]]) -> tuple[list[Any], dict[str, list[str]]]:
        """The answer, and what differs after the call."""
        with _generators_used() as used:
            answer = call()
        after = {"settings": afterwards.settings(), "library": afterwards.library(MATRIX)}
        wanted = {name: value for name, value in expected.items() if name in after}
        return answer, {"draw": used, **_differing(wanted, after)}

    with _as_before():
        return _traces_of(case, subject, observed)


Observer = Callable[[Callable[[], list[Any]]], tuple[list[Any], dict[str, list[str]]]]


def _traces_of(case: Case, subject: Any, observed: Observer) -> dict[str, Any]:
    call, sent = _callable(case, subject), dict(enumerate(case.arguments(subject))) | dict(case.kwargs)
    arguments = [place for place, value in sent.items() if _data(value)]
    handles = subject.keep([sent[place] for place in arguments]) if arguments else []
    kept = dict(zip(arguments, handles, strict=True))
    there = sent | kept
    first, differing = observed(lambda: _answer(call, there))
    back = subject.call("given_kept", list(kept.values())) if kept else []
    changed = dict(zip(arguments, back, strict=False)) if type(back) is list else {}  # a box may say anything
    touched = [place for place in arguments if compare(sent[place], changed.get(place)) is not None]
    # a box that lies about its arguments still computes with the changed ones; the second call may not return
    if not touched and not differing["draw"] and compare(first, _answer(call, there), case.tolerance) is not None:
        touched = arguments[:1] or [0]
    return {"arguments": touched, "random numbers": differing.pop("draw"), **differing}


def _differing(wanted: dict[str, Any], after: Any) -> dict[str, list[str]]:
    """Which generators, settings and library functions have changed."""

    def other(name: str, part: str) -> bool:
        """Whether that part has changed."""
        value = after.get(name) if type(after) is dict else None
        if value is wanted[name]:
            return False
        return type(value) is not dict or compare(wanted[name][part], value.get(part), LIBRARY) is not None

    return {name: [part for part in wanted[name] if other(name, part)] for name in wanted}


def _callable(case: Case, subject: Any) -> Callable[..., Any]:
    """The function, or the method of a module that is built beforehand, since building it uses random numbers."""
    if case.init is None:
        return partial(subject.call, case.symbol)
    module = case.build(subject)
    return module if case.method is None else partial(module.method, case.method)


def _answer(call: Callable[..., Any], there: dict[Any, Any]) -> list[Any]:
    """The comparable parts, numbers and strings, of the answer to a call with these arguments."""
    args = [value for place, value in there.items() if isinstance(place, int)]
    return _comparable(call(*args, **{place: value for place, value in there.items() if isinstance(place, str)}))


def _comparable(value: Any) -> list[Any]:
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, (Tensor, int, float, str, bool))]


def _data(value: Any) -> bool:
    """Whether an argument can be kept in the box; functions, and lists of them, are sent anew with every call."""
    if isinstance(value, (list, dict)):
        return not any(callable(leaf) for leaf in tree_flatten(value)[0])
    return isinstance(value, Tensor)


@cache
def _expected() -> dict[str, Any]:
    """The results if nothing was changed. They come from generators and settings of their own, since this process's may
    be in use."""
    own = torch.Generator().manual_seed(SEED)
    python, legacy = random.Random(SEED), numpy.random.RandomState(SEED)
    drawn = {
        "torch": torch.rand(4, dtype=torch.float64, generator=own).tolist(),
        "Python": [python.random() for _ in range(4)],
        "NumPy": legacy.rand(4).tolist(),
    }
    return {"draw": drawn, "settings": afterwards.DEFAULTS, "library": afterwards.library(MATRIX)}


@contextmanager
def _generators_used() -> Iterator[list[str]]:
    """Collects, at the end of the block, which global generators this thread drew from or seeded inside it.

    Python's functions are seen as this thread calls them; NumPy's generator is locked meanwhile, so that other threads
    wait; torch's is used by the thread that grades alone.
    """
    used: list[str] = []
    seen: set[str] = set()
    legacy, profile = get_bit_generator(), sys.getprofile()

    def note(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call" and getattr(function, "__self__", None) is PYTHONS:
            seen.add("Python")

    with legacy.lock:
        states = torch.get_rng_state(), pickle.dumps(legacy.state)
        sys.setprofile(note)
        try:
            yield used
        finally:
            sys.setprofile(profile)
        changed = {
            "torch": not torch.equal(states[0], torch.get_rng_state()),
            "Python": "Python" in seen,
            "NumPy": states[1] != pickle.dumps(legacy.state),
        }
    used += [name for name, other in changed.items() if other]


@contextmanager
def _as_before() -> Iterator[None]:
    """Restores torch's random state and settings in this process after the block."""
    numbers = torch.get_rng_state()
    dtype, grad, device = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_default_device()
    # the debug mode: use_deterministic_algorithms would import torch's compiler, which takes longer than a check
    strict, anomaly = torch.get_deterministic_debug_mode(), torch.is_anomaly_enabled()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)
        torch.set_deterministic_debug_mode(strict)
        torch.autograd.set_detect_anomaly(anomaly)
        if torch.get_default_device() != device:
            torch.set_default_device(device)
        torch.set_rng_state(numbers)


def _explain(expected: Any, actual: dict[str, Any]) -> str:
    """What the call left behind. Raises RuntimeError if that is nothing: then the fault is the grader's own."""
    if actual["arguments"]:
        return f"the call changes its own input (the argument `{actual['arguments'][0]}`); the caller still needs it"
    if actual["random numbers"]:
        return "the call draws random numbers or sets a seed; the same inputs must always give the same result"
    if actual["settings"]:
        return f"the call changes a global setting of torch ({', '.join(actual['settings'])})"
    if actual["library"]:
        return "your code replaces functions of torch; other code in the process gets other results"
    raise CheckFault(f"the call leaves nothing behind, but {expected} was expected: the grader was disturbed")
