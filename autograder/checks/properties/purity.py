"""Whether a call leaves its arguments, the random state and torch unchanged, judged by what is computed after it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten

from autograder.checks import afterwards
from autograder.checks.compare import Tolerance, compare
from autograder.checks.probe import Case, Check, Probe
from autograder.checks.properties._probes import Cases

SEED = 20170612  # known seed, so that the grader knows the next random numbers
LIBRARY = Tolerance(length=64, amplify=8.0)  # for the same sums, possibly on a GPU
MATRIX = torch.randn(5, 5, generator=torch.Generator().manual_seed(SEED))


def purity(cases: Cases, weight: float = 1.0) -> Check:
    """Arguments, random numbers and torch's global settings are as they were before the call.

    A box could lie about that. So the arguments stay in the box: they must give the same answer again, and must read
    back as they were sent. Later random numbers, new tensors, gradients and library functions must be the same as after
    no change at all. A change without such a consequence (the number of threads) costs nothing.
    """
    probes = lambda draw, reference: [Probe(partial(_traces, case, reference), case) for case in cases(draw)]
    return Check("no side effects", probes, weight, explain=_explain, property="purity")


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


def _traces(case: Case, reference: Any, subject: Any) -> dict[str, Any]:
    """What the call changed, judged by later computations. Torch stays as it is after a call of the reference."""
    subject.bind(_source(), afterwards.NAMES)
    with _as_before():  # the reference and our own answers work in this process
        wanted = _expected()
        call, sent = _callable(case, subject), dict(enumerate(case.arguments(subject))) | dict(case.kwargs)
        arguments = [place for place, value in sent.items() if _data(value)]
        kept = dict(
            zip(arguments, subject.keep([sent[place] for place in arguments]) if arguments else [], strict=True)
        )
        there = sent | kept
        subject.call("given_seed", SEED)
        first = _answer(call, there)
        if subject is reference:
            after = wanted | {"draw": subject.call("given_draw")}
        else:
            after = subject.call("given_after", MATRIX)
        back = subject.call("given_kept", list(kept.values())) if kept else []
        changed = dict(zip(arguments, back, strict=False)) if type(back) is list else {}  # a box may say anything
        touched = [place for place in arguments if compare(sent[place], changed.get(place)) is not None]
        differing = _differing(wanted, after)
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
    """The results if nothing was changed, computed before other code has run in this process."""
    afterwards.given_seed(SEED)
    return afterwards.given_after(MATRIX)


@contextmanager
def _as_before() -> Iterator[None]:
    """Restores this process's random state and settings after the block."""
    numbers = torch.get_rng_state(), random.getstate(), numpy.random.get_state()
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
        torch.set_rng_state(numbers[0])
        random.setstate(numbers[1])
        numpy.random.set_state(numbers[2])


def _explain(expected: Any, actual: dict[str, Any]) -> str:
    if actual["arguments"]:
        argument = actual["arguments"][0]
        named = f"argument {argument + 1}" if isinstance(argument, int) else f"the argument `{argument}`"
        return f"the call changes its own input ({named}); the caller still needs it"
    if actual["random numbers"]:
        return "the call draws random numbers or sets a seed; the same inputs must always give the same result"
    if actual["settings"]:
        return f"the call changes a global setting of torch ({', '.join(actual['settings'])})"
    return "your code replaces functions of torch; other code in the process gets other results"
