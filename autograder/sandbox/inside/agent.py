"""Answers the grader's requests in the student's process. Student code can tamper with it, so answers are only data."""

from __future__ import annotations

import _thread
import ctypes
import importlib.abc
import importlib.util
import inspect
import itertools
import signal
import socket
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from . import wire

if TYPE_CHECKING:
    from .shell import Shell

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # glibc's parameters: what it gives back to the kernel, and at once
MMAP_THRESHOLD, MOST_MMAP_THRESHOLD = 128 << 10, 32 << 20  # the value that it begins with, and the largest
ABSENT = ("tfkit", "autograder", "course", "tfkit_lab", "nbgrader")  # not importable here unless the grader sends them


class MissingName(Exception):
    """The student's code has no such name."""


class TooLarge(Exception):
    """The answer is larger than the grader accepts."""


class GraderError(RuntimeError):
    """A function that the grader passed in raised this when the student's code called it."""


class InjectedModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Importable modules made of sources that the grader sent; the project itself cannot be imported."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec of a module that was sent; None for others. Raises ModuleNotFoundError for the project's own."""
        if name in self.sources:
            spec = importlib.util.spec_from_loader(name, self, is_package=True)
            return spec
        if name.split(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"{name} cannot be used here: write this exercise by hand", name=name)
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Runs the source of a module that was sent. Raises what the source raises."""
        exec(compile(self.sources[module.__name__], f"<given {module.__name__}>", "exec"), module.__dict__)

    def add(self, sources: dict[str, str]) -> None:
        """Adds {dotted name: source}. Parents become empty packages; modules of these names are imported again."""
        for name, source in sources.items():
            parts = name.split(".")
            for n in range(1, len(parts)):
                self.sources.setdefault(".".join(parts[:n]), "")
            self.sources[name] = source
        for name in sources:
            sys.modules.pop(name, None)


def leaves(value: Any) -> Iterator[torch.Tensor]:
    """The floating-point tensors in a value, depth first; mappings and dataclasses are walked in the order of keys."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point() or value.is_complex():
            yield value
        return
    for item in wire.parts(value) or ():
        yield from leaves(item)


def with_grad(value: Any, made: list[torch.Tensor]) -> Any:
    """A copy in which each floating-point tensor is a new leaf that requires a gradient, added to `made` in the order
    of `leaves`."""
    if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
        made.append(value.detach().clone().requires_grad_())
        return made[-1]
    if type(value) in (list, tuple):  # an object of a type that the student defined stays as it is
        return type(value)(with_grad(item, made) for item in value)
    if type(value) is dict:
        new = {key: with_grad(value[key], made) for key in wire.sort_keys(value)}
        return {key: new[key] for key in value}
    return value


def gradients(out: Any, cotangents: Any, inputs: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """Vector-Jacobian products of the floating-point tensors in `out`; None if `out` does not depend on an input."""
    given = [cotangents] if isinstance(cotangents, torch.Tensor) else list(cotangents)
    pairs = []
    for n, (tensor, cotangent) in enumerate(zip(leaves(out), given, strict=False)):
        if cotangent is None or not tensor.requires_grad:
            continue
        if tensor.shape != cotangent.shape:
            raise ValueError(f"output {n} has shape {list(tensor.shape)}, expected {list(cotangent.shape)}")
        pairs.append((tensor, cotangent.to(tensor.dtype)))
    if not pairs or not inputs:
        return [None] * len(inputs)
    return vector_jacobian_products(pairs, inputs)


def vector_jacobian_products(
    pairs: list[tuple[torch.Tensor, torch.Tensor]], inputs: list[torch.Tensor]
) -> list[torch.Tensor | None]:
    """The vector-Jacobian products of (output, cotangent) pairs; None for an input on which no output depends.

    They are the gradients of the sum of output · cotangent: `autograd.grad` would import sympy if it were given the
    cotangents of real outputs, which takes half a second at the first gradient.
    """
    if any(out.is_complex() for out, _ in pairs):  # whose sums have no gradient
        outs, cotangents = [out for out, _ in pairs], [cotangent for _, cotangent in pairs]
        return list(torch.autograd.grad(outs, inputs, cotangents, allow_unused=True))
    sums = [(out * cotangent).sum() for out, cotangent in pairs]
    return list(torch.autograd.grad(sums, inputs, allow_unused=True))


def explain(error: BaseException) -> list[str]:
    """kind, message, traceback of an exception, without this file's own frames."""
    text = f"{type(error).__name__}: {error}"
    kind = "exception"
    if isinstance(error, MemoryError) or "can't allocate memory" in text or "not enough memory" in text:
        kind, text = "memory", "the code requested more memory than the box has"
    elif isinstance(error, MissingName):
        kind, text = "missing", str(error)
    elif isinstance(error, TooLarge):
        text = str(error)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/inside/" not in f.filename]
    return [kind, text[:2000], "".join(traceback.format_list(frames[-12:]))[-8000:]]


def _fits(frame: list[Any], most: int) -> None:
    """Raises TooLarge for an answer that the grader would not read, so that the box can go on."""
    size = max(sum(len(buffer) for buffer in frame[1:]), len(frame[0]) - wire.HEAD.size)
    if size > most:
        raise TooLarge(f"the answer takes {size:,} bytes; a right one takes at most {most:,}")


def _tell_libc(*calls: tuple[str, tuple[int, ...]]) -> None:
    """Calls these functions of the C library; musl has neither of those that are used here."""
    libc = ctypes.CDLL(None)
    for name, arguments in calls:
        if hasattr(libc, name):
            getattr(libc, name)(*arguments)


class Agent:
    """The box's side of the protocol. output_bytes: how much all cells together may display."""

    def __init__(self, sock: socket.socket, output_bytes: int) -> None:
        self.sock, self.output_bytes = sock, output_bytes
        self.shell: Shell | None = None
        self.space: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
        self.compiled: dict[str, types.CodeType] = {}
        self.objects: dict[int, Any] = {}
        self.injected, self.current, self.late = InjectedModules(), 0, 0.0
        sys.meta_path.insert(0, self.injected)

    # -- requests ----------------------------------------------------------------------------------------------------
    def serve(self) -> None:
        """Answers until the grader closes the channel."""
        while True:
            try:
                request = self.read()
            except EOFError:
                return
            self.current = request["id"]
            self.answer(request)

    def answer(self, request: dict[str, Any]) -> None:
        """Runs one request and sends its result or its exception, including SystemExit.

        Raises OSError if the grader is gone.
        """
        self.late = 0.0
        try:
            with self.time_limit(request["seconds"], request["wall"]):
                reply = {"id": self.current, "ok": getattr(self, "op_" + request["op"])(**request["body"])}
                frame = wire.WireEncoder(self.store, with_names=True).frame(reply)
                _fits(frame, request["most"])
        except BaseException as error:
            kind, message, trace = explain(error)
            if self.late:
                kind, message = "timeout", f"it did not finish in {self.late:g} s"
            frame = wire.WireEncoder().frame({"id": self.current, "err": [kind, message, trace]})
        wire.send(self.sock, frame)

    def read(self) -> Any:
        """The next message, with its references resolved. Raises EOFError if the grader is gone."""
        header, body = wire.receive(self.sock)
        return wire.WireDecoder(trusted=True, call=self.remote, ref=lambda ref: self.objects[ref.number]).value(
            header, body
        )

    def store(self, value: Any) -> wire.Ref:
        """Keeps an object that cannot be sent until the box ends, and returns the reference to send instead."""
        self.objects[len(self.objects)] = value
        kind = type(value)
        return wire.Ref(len(self.objects) - 1, f"{kind.__module__}.{kind.__qualname__}"[:200])

    def remote(self, number: int) -> Callable[..., Any]:
        """A proxy for the grader's function with that number. It raises GraderError if that function failed."""

        def call(*args: Any, **kwargs: Any) -> Any:
            """Blocks until the grader has answered; what cannot be sent is kept here and sent as a reference."""
            request = {"id": self.current, "call": number, "args": list(args), "kwargs": kwargs}
            wire.send(self.sock, wire.WireEncoder(self.store).frame(request))
            reply = self.read()
            if "err" in reply:
                raise GraderError(reply["err"])
            return reply["ok"]

        return call

    @contextmanager
    def time_limit(self, seconds: float, wall: float) -> Iterator[None]:
        """Raises KeyboardInterrupt in the student's code after `seconds` of processor time or `wall` of wall time; the
        grader kills the box where the code does not stop."""

        if not hasattr(signal, "setitimer"):  # Windows
            yield from self._limit_by_thread(seconds, wall)
            return

        def on_alarm(signum: int, frame: Any) -> None:
            """Handles SIGALRM (wall time) and SIGPROF (processor time of all threads together)."""
            self.late = wall if signum == signal.SIGALRM else seconds
            raise KeyboardInterrupt(f"stopped after {self.late:g} s")

        signal.signal(signal.SIGPROF, on_alarm)
        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, wall)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _limit_by_thread(self, seconds: float, wall: float) -> Iterator[None]:
        """The same with a thread, which can interrupt Python code, but not a call into a C library."""
        done, work, end = threading.Event(), time.process_time() + seconds, time.monotonic() + wall

        def on_alarm(signum: int, frame: Any) -> None:
            """Runs in the main thread, as the student's code does."""
            raise KeyboardInterrupt(f"stopped after {self.late:g} s")

        def watch_clocks() -> None:
            """Checks both clocks a few times a second."""
            while not done.wait(0.1):
                if time.process_time() > work or time.monotonic() > end:
                    self.late = wall if time.monotonic() > end else seconds
                    _thread.interrupt_main()
                    return

        signal.signal(signal.SIGINT, on_alarm)
        threading.Thread(target=watch_clocks, daemon=True).start()
        try:
            yield
        finally:
            done.set()

    # -- what the grader may ask -----------------------------------------------------------------------------------
    def op_ping(self) -> str:
        """The version of torch."""
        return torch.__version__

    def op_device(self, name: str) -> str:
        """Initialises the device before any student code runs that could make it fail."""
        torch.ones(1, device=name).cpu()
        torch.backends.cudnn.allow_tf32 = False  # TF32 convolutions would keep only ten bits of the mantissa
        return torch.cuda.get_device_name() if name == "cuda" else name

    def op_steady_memory(self) -> None:
        """Makes the memory that the kernel counts that of the tensors alive, as far as the C library lets it.

        glibc keeps freed blocks below a threshold, which grows to 32 MB by itself as larger blocks are freed. One small
        tensor that is kept then splits the place of a large one that was freed, and a loop over blocks that collects
        its results seems to hold all blocks. A threshold that was set does not grow, and larger blocks go back at once.
        """
        _tell_libc(("mallopt", (M_MMAP_THRESHOLD, MMAP_THRESHOLD)), ("malloc_trim", (0,)))

    def op_keep_freed_memory(self) -> None:
        """Lets the C library keep freed blocks again, as glibc does by itself once large ones were freed: memory that
        goes back to the kernel at each call costs page faults, whose time is not the student's."""
        trim = ("mallopt", (M_TRIM_THRESHOLD, 2 * MOST_MMAP_THRESHOLD))
        _tell_libc(("mallopt", (M_MMAP_THRESHOLD, MOST_MMAP_THRESHOLD)), trim)

    def op_inject(self, modules: dict[str, str]) -> None:
        """Makes modules importable: {dotted name: source}."""
        self.injected.add(modules)

    def op_cell(self, source: str) -> dict[str, Any]:
        """Runs a notebook cell and returns its outputs, its error as one line or None, and whether it timed out."""
        from . import shell as cells  # loads IPython, which the grader, who uses the functions above, does not need

        if self.shell is None:
            self.shell = cells.make()
            self.shell.user_ns.update({k: v for k, v in self.space.items() if not k.startswith("__")})
            self.space = self.shell.user_ns
        outputs, error = cells.run(self.shell, source, self.output_bytes)
        self.output_bytes -= sum(len(str(item)) for item in outputs)
        self.output_bytes = max(self.output_bytes, 4096)
        return {"outputs": outputs, "error": error, "timed_out": self.late > 0}

    def op_bind(self, source: str, names: list[str]) -> None:
        """Runs `source` in a namespace of its own and copies `names` from it into the student's.
        Raises AttributeError for a name that `source` does not define."""
        module = types.ModuleType("given_names")
        if source not in self.compiled:  # the same helpers are bound before each of many calls
            self.compiled[source] = compile(source, "<given names>", "exec")
        exec(self.compiled[source], module.__dict__)
        self.space.update({name: getattr(module, name) for name in names})

    def op_kind(self, name: str) -> str | None:
        """The kind of object: "function", "class", a type's name, or None if the student has no such name."""
        if name not in self.space:
            return None
        value = self.space[name]
        if inspect.isclass(value):
            return "class"
        return "function" if callable(value) else type(value).__name__

    def op_value(self, name: str) -> Any:
        """The student's object of that name. Raises MissingName if there is no such name."""
        return self.target([name, None])

    def op_attribute(self, owner: Any, name: str) -> Any:
        """An attribute of an object that was kept. Raises AttributeError if it has no such attribute."""
        return getattr(owner, name)

    def op_items(self, owner: Any) -> list[Any]:
        """The first 10,000 items of an iterable. Raises TypeError for an object that is not iterable."""
        return list(itertools.islice(owner, 10_000))

    def op_kinds(self, owner: Any) -> list[str]:
        """Dotted names of its classes in method resolution order."""
        return [f"{kind.__module__}.{kind.__qualname__}" for kind in type(owner).__mro__]

    def op_is_instance(self, thing: Any, kind: type) -> bool:
        """isinstance, of two objects that were kept."""
        return isinstance(thing, kind)

    def target(self, target: list[Any]) -> Callable[..., Any]:
        """The callable that [name or object, method or None] stands for.

        Raises MissingName if there is no such name.
        """
        owner, method = target
        if isinstance(owner, str):
            if owner not in self.space:
                raise MissingName(f"{owner} is not defined")
            owner = self.space[owner]
        if method is None:
            return owner
        if not hasattr(owner, method):
            raise MissingName(f"{type(owner).__name__} has no method {method}")
        return getattr(owner, method)

    def op_call(self, target: list[Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a function, an object or a method with these arguments. Raises MissingName and what the call raises."""
        return self.target(target)(*args, **kwargs)

    def op_build(
        self, name: str, args: list[Any], kwargs: dict[str, Any], state: Any = None, how: list[Any] | None = None
    ) -> wire.Ref:
        """An instance of the student's class, which stays here: with these parameters, moved to what `how` names.
        Raises MissingName, and what its constructor, `op_load` and `op_to` raise."""
        made = self.target([name, None])(*args, **kwargs)
        if state is not None:
            self.op_load(made, state)
        self.op_to(made, how or [])
        return self.store(made)

    def op_keep(self, values: list[Any]) -> list[wire.Ref]:
        """Keep each value in the box and return references."""
        return [self.store(value) for value in values]

    def op_observe(self, target: list[Any], args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """A call's result, and its arguments as the call left them."""
        value = self.target(target)(*args, **kwargs)
        return {"value": value, "args_after": list(args), "kwargs_after": kwargs}

    def op_vjp(self, target: list[Any], args: list[Any], kwargs: dict[str, Any], cotangents: Any) -> dict[str, Any]:
        """A call's output, with gradients of its floating-point inputs, depth first, and of parameters by name."""
        made: list[torch.Tensor] = []
        args, kwargs = with_grad(args, made), with_grad(kwargs, made)
        function = self.target(target)
        owner = target[0] if target[1] is not None else function
        names: list[str] = []
        parameters: list[torch.Tensor] = []
        if isinstance(owner, torch.nn.Module):  # frozen parameters have no gradient
            learning = {name: value for name, value in owner.named_parameters() if value.requires_grad}
            names, parameters = list(learning), list(learning.values())
        with torch.enable_grad():
            out = function(*args, **kwargs)
            grads = gradients(out, cotangents, made + parameters)
        return {"out": out, "grads": grads[: len(made)],
                "parameters": dict(zip(names, grads[len(made) :], strict=True))}  # fmt: skip

    def op_state(self, ref: torch.nn.Module) -> dict[str, list[int]]:
        """Names and shapes of a module's state dict."""
        return {name: list(tensor.shape) for name, tensor in ref.state_dict().items()}

    def op_load(self, ref: torch.nn.Module, state: dict[str, torch.Tensor]) -> None:
        """A strict load_state_dict. Raises RuntimeError for unknown or missing names and for wrong shapes."""
        ref.load_state_dict(state, strict=True)

    def op_to(self, ref: torch.nn.Module, how: list[Any]) -> None:
        """Moves a module to each of these dtypes and devices in place; other objects stay as they are."""
        for target in how if isinstance(ref, torch.nn.Module) else ():
            ref.to(target)

    def op_train(self, ref: torch.nn.Module, mode: bool) -> None:
        """Sets training or evaluation mode."""
        ref.train(mode)
