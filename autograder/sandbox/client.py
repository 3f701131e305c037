"""The grader's side of a box: sends inputs, receives outputs, and validates everything it receives."""

from __future__ import annotations

import itertools
import json
import re
import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import torch

from autograder.api import Limits
from autograder.sandbox.base import Backend, Box, SandboxError, Usage
from autograder.sandbox.cgroup import ResourceUsage
from autograder.sandbox.inside import wire

GRACE_S = 1.5  # between the time limit inside the box and its end
BACKSTOP = 3  # wall time of a question, or a box, as a multiple of its processor time, for a busy machine
SHORTEST_S = 0.01  # of a question that comes when the box's time is over
USAGE_POLL_S = 0.5  # between two measurements of the box's usage
DEVICE_S = 30.0  # for a GPU driver that must be loaded first
ANSWER_BYTES = 64 << 20  # read of one answer, unless the reference's answer gives a limit
LEAST_BYTES = 1 << 20  # always read, so that wrong answers of an ordinary size can be compared
SIZE_FACTOR = 8  # times the size of the reference's answer, for other dtypes or an extra axis
UNREADABLE = (wire.WireError, ValueError, RuntimeError, RecursionError, MemoryError)  # what a forged frame can raise
KINDS = ("exception", "timeout", "memory", "crash", "protocol", "missing")


class StudentError(Exception):
    """What stopped the student's code. `kind` is one of exception, timeout, memory, crash, protocol, missing."""

    def __init__(self, kind: str, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.kind, self.message, self.traceback = kind, message, traceback


@dataclass(frozen=True)
class Cell:
    """A notebook cell to run."""

    id: str
    source: str


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of a cell. `lost` means that it ended the box, and with it all names that earlier cells defined."""

    id: str
    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None
    timed_out: bool = False
    lost: bool = False


@dataclass(frozen=True)
class ObservedCall:
    """A call's result, and the arguments as the call left them."""

    value: Any
    args_after: list[Any]
    kwargs_after: dict[str, Any]


class SandboxClient:
    """A boxed process with one student's code. Use it in a `with` statement; every method may raise StudentError."""

    def __init__(self, backend: Backend, limits: Limits | None = None) -> None:
        self.backend, self.limits = backend, limits or Limits()
        self._box: Box | None = None
        self._dead: StudentError | None = None
        self._ids = itertools.count(1)
        self._functions: list[Callable[..., Any]] = []
        self.callback_errors: list[Exception] = []  # raised by the grader's own functions during calls
        self._most = ANSWER_BYTES
        self._is_metered = self._is_timed = False

    def __enter__(self) -> SandboxClient:
        self._box = self.backend.start(self.limits)
        self._is_metered, self._is_timed = bool(self._box.group.kind), self._box.is_timed
        self._end = time.monotonic() + self.limits.wall_s
        self._latest = self._end + (BACKSTOP - 1) * self.limits.wall_s * self._is_timed
        return self

    def __exit__(self, *_: object) -> None:
        if self._box is not None:
            self._box.stop()

    @property
    def alive(self) -> bool:
        """Whether the box still runs."""
        return self._dead is None

    @property
    def out_of_time(self) -> bool:
        """Whether the box has used up its time."""
        return min(self._left_s()) <= 0

    def _left_s(self) -> tuple[float, float]:
        """Seconds of the processor and of the wall's clock that the box may still take, as `Limits.wall_s` has them.

        Its processor's time is looked at once the wall time is over: before that, only several processes at once could
        have used as much.
        """
        now = time.monotonic()
        work_s = self._end - now
        if self._is_timed and self._box is not None:
            work_s = self.limits.wall_s - (self._box.cpu_s() if work_s <= 0 else 0.0)
        return work_s, self._latest - now

    def limit_answer(self, size: int | None) -> None:
        """Limits later answers to a few times `size` bytes, the size of the reference's answer; None: ANSWER_BYTES."""
        self._most = ANSWER_BYTES if size is None else max(LEAST_BYTES, SIZE_FACTOR * size)

    # -- what the grader asks ------------------------------------------------------------------------------------------
    def ping(self) -> str:
        """The box's torch version."""
        return str(self._ask("ping", {}, seconds=None))

    def start_device(self, name: str) -> str:
        """Initialises the device in the box before any other code runs; returns its name.

        Raises SandboxError if the box cannot use it.
        """
        try:
            return str(self._ask("device", {"name": name}, seconds=DEVICE_S))
        except StudentError as error:
            raise SandboxError(f"a box of {self.backend.name} cannot use {name} ({error})") from None

    def inject(self, modules: dict[str, str]) -> None:
        """Makes modules of these sources importable in the box, `{"tfkit.nn": source}`; parents are made too."""
        self._ask("inject", {"modules": modules})

    def run_cells(self, cells: Sequence[Cell], seconds: float | None = None) -> list[CellOutcome]:
        """Runs cells in order, `seconds` each. Ends after a cell that ended the box: its outcome is `lost`."""
        outcomes: list[CellOutcome] = []
        for cell in cells:
            outcomes.append(self._run_cell(cell, seconds))
            if outcomes[-1].lost:
                break
        return outcomes

    def _run_cell(self, cell: Cell, seconds: float | None) -> CellOutcome:
        try:
            reply = self._ask("cell", {"source": cell.source}, seconds=seconds)
        except StudentError as error:
            lost = not self.alive
            return CellOutcome(cell.id, [], f"{error.kind}: {error}", error.kind == "timeout", lost)
        reply = reply if isinstance(reply, dict) else {}
        error_text = reply.get("error")
        outputs = _outputs(reply.get("outputs"), self.limits.output_bytes)
        return CellOutcome(cell.id, outputs, None if error_text is None else str(error_text)[:2000],
                           reply.get("timed_out") is True)  # fmt: skip

    def bind(self, source: str, names: Sequence[str]) -> None:
        """Runs `source` in a module of its own and puts `names` of it into the student's namespace."""
        self._ask("bind", {"source": source, "names": list(names)})

    def kind(self, name: str) -> str | None:
        """The kind of object: "function", "class", a type's name, or None if the student has no such name."""
        answer = self._ask("kind", {"name": name})
        return None if answer is None else str(answer)[:200]

    def value(self, name: str) -> Any:
        """The student's object of that name: data as it is, anything else as a Ref."""
        return self._ask("value", {"name": name})

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The student's function on these arguments. Host callables among them are called back here."""
        return self._call([name, None], args, kwargs)

    def observe(self, name: str, *args: Any, **kwargs: Any) -> ObservedCall:
        """A call's result, and its arguments as the call left them."""
        return self._observe([name, None], args, kwargs)

    def vjp(self, name: str, args: Sequence[Any], kwargs: dict[str, Any], cotangents: Any) -> tuple[Any, list[Any]]:
        """(output, gradients): one per floating-point tensor in args, then kwargs, depth first; None if unused.

        `cotangents` is a tensor, or a list with one entry (or None) per floating tensor in the output, depth first.
        """
        out, grads, _ = self._vjp([name, None], args, kwargs, cotangents)
        return out, grads

    def build(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        """An instance of the student's class; it stays in the box."""
        return self._build({"name": name, "args": list(args), "kwargs": kwargs})

    def build_loaded(
        self, name: str, args: Sequence[Any], state: dict[str, torch.Tensor] | None, dtype: torch.dtype | None = None
    ) -> Handle:
        """As `build`, `Handle.load` and `Handle.to` one after the other, in a single question."""
        how = [] if dtype is None else [dtype]
        return self._build({"name": name, "args": list(args), "kwargs": {}, "state": state, "how": how})

    def _build(self, body: dict[str, Any]) -> Handle:
        ref = self._ask("build", body)
        if not isinstance(ref, wire.Ref):
            raise self._broken("build did not answer with an object")
        return Handle(self, ref)

    def keep(self, values: Sequence[Any]) -> list[Handle]:
        """Each value as an object in the box, which can be an argument of several calls."""
        refs = self._ask("keep", {"values": list(values)})
        if type(refs) is not list or len(refs) != len(values) or not all(isinstance(ref, wire.Ref) for ref in refs):
            raise self._broken("keep did not answer with objects")
        return [Handle(self, ref) for ref in refs]

    def usage(self) -> Usage:
        """Time and memory so far, counted outside the box."""
        assert self._box is not None
        return self._box.usage()

    @property
    def is_metered(self) -> bool:
        """Whether a control group counts what the box uses, or did until the code ended it."""
        return self._is_metered

    @property
    def is_timed(self) -> bool:
        """Whether `usage` has the processor time of everything in the box, or did until the code ended it."""
        return self._is_timed

    def steady_memory(self) -> None:
        """From here on the box's C library keeps no large block that was freed, which `measure` would count."""
        self._ask("steady_memory", {})

    def keep_freed_memory(self) -> None:
        """From here on the C library keeps freed blocks again, so that `measure` counts no time for page faults."""
        self._ask("keep_freed_memory", {})

    def measure(self) -> AbstractContextManager[ResourceUsage]:
        """What the box uses inside the block, counted outside of it."""
        assert self._box is not None
        return self._box.group.measure()

    # -- shared by functions and handles ---------------------------------------------------------------------------
    def _call(self, target: list[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        return self._ask("call", {"target": target, "args": list(args), "kwargs": kwargs})

    def _observe(self, target: list[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> ObservedCall:
        reply = self._ask("observe", {"target": target, "args": list(args), "kwargs": kwargs})
        try:
            return ObservedCall(reply["value"], list(reply["args_after"]), dict(reply["kwargs_after"]))
        except (KeyError, TypeError, ValueError) as error:
            raise self._broken(f"observe returned an invalid answer ({type(error).__name__})") from None

    def _vjp(self, target: list[Any], args: Sequence[Any], kwargs: dict[str, Any],
             cotangents: Any) -> tuple[Any, list[Any], dict[str, Any]]:  # fmt: skip
        cotangents = list(cotangents) if isinstance(cotangents, (list, tuple)) else [cotangents]
        body = {"target": target, "args": list(args), "kwargs": kwargs, "cotangents": cotangents}
        reply = self._ask("vjp", body)
        try:
            out, grads, parameters = reply["out"], list(reply["grads"]), dict(reply["parameters"])
        except (KeyError, TypeError, ValueError) as error:
            raise self._broken(f"vjp returned an invalid answer ({type(error).__name__})") from None
        expected = _count_floating([list(args), kwargs])
        if len(grads) != expected:  # callers match them with the inputs
            raise self._broken(f"vjp answered {len(grads)} gradients of {expected} inputs")
        if not all(grad is None or isinstance(grad, torch.Tensor) for grad in (*grads, *parameters.values())):
            raise self._broken("vjp answered gradients that are no tensors")
        return out, grads, parameters

    # -- the conversation ----------------------------------------------------------------------------------------------
    def _ask(self, op: str, body: dict[str, Any], seconds: float | None = None) -> Any:
        if self._dead is not None:
            raise StudentError(self._dead.kind, f"the box has died: {self._dead}")
        assert self._box is not None, "use SandboxClient in a with statement"
        number = next(self._ids)
        self._functions = []
        work_s, (left_s, left_wall_s) = seconds or self.limits.call_s, self._left_s()
        wall_s = min(work_s * (self.limits.backstop or BACKSTOP), max(left_wall_s, SHORTEST_S))
        limit = _Limit(self._box, min(work_s, max(min(left_s, left_wall_s), SHORTEST_S)), wall_s)
        question = {"id": number, "op": op, "seconds": limit.work_s, "wall": limit.wall_s, "most": self._most,
                    "body": body}  # fmt: skip
        self._send(question, limit.deadline)
        while True:
            reply = self._receive(limit)
            if type(reply) is not dict or reply.get("id") != number:
                raise self._broken("a reply without a request")
            if "call" not in reply:
                return self._result(reply)
            self._send(self._called(number, reply, limit), limit.deadline)

    def _result(self, reply: dict[str, Any]) -> Any:
        if "ok" in reply:
            return reply["ok"]
        error = reply.get("err")
        if type(error) is not list or len(error) != 3 or not all(type(part) is str for part in error):
            raise self._broken("an invalid reply")
        kind, message, trace = error
        raise StudentError(kind if kind in KINDS else "exception", message[:2000], trace[:8000])

    def _called(self, number: int, request: dict[str, Any], limit: _Limit) -> dict[str, Any]:
        """Runs a host function for the box; what it raises is raised again in the student's code.

        Its time counts towards the question's, or else a box could keep the grader busy up to the wall time. A call
        cannot be stopped, so a host function must limit its own cost (see `checks.decoding`).
        """
        index, args, kwargs = request.get("call"), request.get("args"), request.get("kwargs")
        if type(index) is not int or not 0 <= index < len(self._functions) or type(args) is not list:
            raise self._broken("a call of a function that was not passed")
        if type(kwargs) is not dict or not all(type(key) is str for key in kwargs):
            raise self._broken("a call with invalid arguments")
        started = time.thread_time()
        reply: dict[str, Any] = {"id": number}
        try:
            reply["ok"] = self._functions[index](*args, **kwargs)
        except Exception as error:
            self.callback_errors = [*self.callback_errors[-9:], error.with_traceback(None)]  # tracebacks keep arguments
            reply["err"] = f"{type(error).__name__}: {error}"[:2000]
        limit.called_s += time.thread_time() - started
        if limit.called_s > limit.work_s:
            raise self._kill(StudentError("timeout", "the grader's functions that the code called took too long"))
        return reply

    def _keep(self, value: Any) -> wire.Ref | wire.Call:
        if isinstance(value, Handle):
            return value.ref
        if not callable(value):
            raise wire.WireError(f"a {type(value).__name__} cannot be sent into the box")
        self._functions.append(value)
        return wire.Call(len(self._functions) - 1)

    def _send(self, message: dict[str, Any], deadline: float) -> None:
        assert self._box is not None
        frame = wire.WireEncoder(self._keep).frame(message)  # a WireError here is a bug of the grader
        try:
            wire.send(self._box.channel, frame, deadline)
        except TimeoutError:
            raise self._kill(StudentError("timeout", "the code did not read what it was sent in time")) from None
        except OSError:
            raise self._gone() from None

    def _receive(self, limit: _Limit) -> Any:
        assert self._box is not None
        try:
            limit.wait()
            header, body = wire.receive(self._box.channel, limit.deadline, self._most)
            return wire.WireDecoder().value(header, body)
        except TimeoutError:
            raise self._kill(StudentError("timeout", "the code did not finish in time and was stopped")) from None
        except (EOFError, OSError):
            raise self._gone() from None
        except UNREADABLE as error:
            raise self._broken(str(error)) from None

    def _gone(self) -> StudentError:
        assert self._box is not None
        return self._kill(StudentError(*self._box.exit_reason()))

    def _broken(self, why: str) -> StudentError:
        return self._kill(StudentError("protocol", f"the process sent an invalid answer: {why}"))

    def _kill(self, error: StudentError) -> StudentError:
        """Ends the box; later questions get the same kind of error."""
        self._dead = error
        assert self._box is not None
        self._box.stop()
        return error


def _count_floating(value: Any) -> int:
    """The number of gradients that a box must return for these arguments: the leaves made by `inside.agent.with_grad`.

    Structures count as the wire sends them: of plain types, except those that go back as the student's own objects.
    """
    if isinstance(value, torch.Tensor):
        return int(value.is_floating_point() or value.is_complex())
    if isinstance(value, wire.NamedContainer) and value.ref is not None:
        return 0
    if isinstance(value, Mapping):
        return sum(map(_count_floating, value.values()))
    return sum(map(_count_floating, value)) if isinstance(value, (list, tuple)) else 0


def _readable(channel: socket.socket, seconds: float) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([channel], [], [], seconds)[0])
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    return bool(poll.poll(1000 * seconds))


class _Limit:
    """The time limits of one question: the box's processor seconds, and wall seconds whoever uses them."""

    def __init__(self, box: Box, work_s: float, wall_s: float) -> None:
        self.box, self.work_s, self.wall_s = box, work_s, wall_s
        self.deadline = time.monotonic() + wall_s + GRACE_S
        self.called_s = 0.0  # spent in the grader's own functions for the question
        self.most: float | None = None  # of the box's processor seconds; most answers come before the first look

    def wait(self) -> None:
        """Waits until the box sends something. Raises TimeoutError; a message in pieces only has the deadline."""
        while not _readable(self.box.channel, USAGE_POLL_S):
            used = self.box.cpu_s()
            self.most = used + self.work_s + GRACE_S if self.most is None else self.most
            if used > self.most or time.monotonic() > self.deadline:
                raise TimeoutError("no answer in time")


class Handle:
    """A student's object that stays in the box, usually an nn.Module."""

    def __init__(self, student: SandboxClient, ref: wire.Ref) -> None:
        self.student, self.ref = student, ref
        self.name = ""  # the name by which a test requested it

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The object on these arguments, as `SandboxClient.call`."""
        return self.student._call([self, None], args, kwargs)

    def method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """A method on these arguments."""
        return self.student._call([self, name], args, kwargs)

    def method_with_limit(self, seconds: float, name: str, *args: Any) -> Any:
        """A method call that may take `seconds` of processor time instead of `Limits.call_s`."""
        return self.student._ask("call", {"target": [self, name], "args": list(args), "kwargs": {}}, seconds)

    def attribute(self, name: str) -> Any:
        """One of its attributes: data as it is, anything else as a Ref."""
        return self.student._ask("attribute", {"owner": self, "name": name})

    def items(self) -> list[Any]:
        """The items of an iterable, at most 10,000."""
        found = self.student._ask("items", {"owner": self})
        return found if type(found) is list else []

    def kinds(self) -> list[str]:
        """The dotted names of its classes in method resolution order."""
        found = self.student._ask("kinds", {"owner": self})
        return [name for name in found if type(name) is str] if type(found) is list else []

    def is_class_of(self, other: Handle) -> bool:
        """Whether `isinstance(other, self)` holds in the box."""
        return self.student._ask("is_instance", {"thing": other, "kind": self}) is True

    def observe(self, method: str | None, *args: Any, **kwargs: Any) -> ObservedCall:
        """As SandboxClient.observe, for the object itself or one of its methods."""
        return self.student._observe([self, method], args, kwargs)

    def vjp(self, method: str | None, args: Sequence[Any], kwargs: dict[str, Any],
            cotangents: Any) -> tuple[Any, list[Any], dict[str, Any]]:  # fmt: skip
        """As SandboxClient.vjp, with the gradients of the parameters by name (None for unused ones)."""
        return self.student._vjp([self, method], args, kwargs, cotangents)

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the state dict."""
        reply = self.student._ask("state", {"ref": self})
        try:
            return {str(name): tuple(int(size) for size in shape) for name, shape in reply.items()}
        except (AttributeError, TypeError, ValueError):
            raise self.student._broken("an invalid state dict") from None

    def load(self, state: dict[str, Any]) -> None:
        """A strict load_state_dict: unknown or missing names and wrong shapes raise StudentError of kind exception."""
        self.student._ask("load", {"ref": self, "state": dict(state)})

    def to(self, *how: Any) -> Handle:
        """Moves the module to a torch.dtype or a device name ("cuda")."""
        self.student._ask("to", {"ref": self, "how": list(how)})
        return self

    def train(self, mode: bool = True) -> Handle:
        """Sets training or evaluation mode."""
        self.student._ask("train", {"ref": self, "mode": mode})
        return self


_FIELDS = {
    "stream": ("name", "text"),
    "display_data": ("data", "metadata"),
    "execute_result": ("data", "metadata", "execution_count"),
    "error": ("ename", "evalue", "traceback"),
}


def _outputs(value: Any, budget: int) -> list[dict[str, Any]]:
    """Valid notebook outputs, whatever the box sent; at most one and a half times `budget` bytes.

    Texts can be written into a file, since the wire's decoder refuses those that cannot."""
    kept: list[dict[str, Any]] = []
    left = budget + (budget >> 1)
    for item in value if type(value) is list else []:
        kind = item.get("output_type") if type(item) is dict else None
        if type(kind) is not str or kind not in _FIELDS or not _well_formed(kind, item):
            continue
        left -= len(str(item))
        if left < 0:
            break
        kept.append({"output_type": kind, **{name: item.get(name) for name in _FIELDS[kind]}})
    return kept


def _well_formed(kind: str, item: dict[str, Any]) -> bool:
    if kind == "stream":
        return item.get("name") in ("stdout", "stderr") and type(item.get("text")) is str
    if kind == "error":
        trace = item.get("traceback")
        names = type(item.get("ename")) is str and type(item.get("evalue")) is str
        return names and type(trace) is list and all(type(line) is str for line in trace)
    data, count = item.get("data"), item.get("execution_count")
    plain = type(data) is dict and all(type(mime) is str and _showable(mime, v) for mime, v in data.items())
    return plain and item.get("metadata") == {} and (count is None or (type(count) is int and count >= 0))


def _showable(mime: str, value: Any) -> bool:
    """Whether the notebook format, and a JSON file, can hold `value` as that type."""
    if not re.fullmatch(r"application/(.*\+)?json", mime):
        return type(value) is str or (type(value) is list and all(type(line) is str for line in value))
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return type(value) in (dict, list)
