"""Runs in the box and reports what was asked for. It is sent as source, and its output is not trusted.

Two ways that have nothing in common: `_q_note` is called with the value of an expression that is wrapped in it;
`_q_watch` lets Python's own tracing look at the local variables of code that knows nothing of it.
"""

import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

FILE, MOST, NAME = "<answer>", 400, "_q_value"
_notes: list = []  # of this run: [shape or None, value or None]
_lines: dict = {}  # line -> how often it began
_seen: dict = {}  # frame -> the value that was noted last
_counters: list = []  # the one that counts multiplications now


def _q_define(source, space):
    """Define what the source defines, in this namespace."""
    exec(compile(source, FILE, "exec", dont_inherit=True), space)


def _q_note(value):
    if len(_notes) < MOST:
        _notes.append(_described(value))
    return value


def _described(value):
    if isinstance(value, torch.Tensor):
        return [list(value.shape), value.detach().double().clone() if value.numel() <= MOST else None]
    if isinstance(value, (bool, int, float)):
        return [[], torch.tensor(float(value), dtype=torch.float64)]
    return [None, None]


def _q_begin():
    _notes.clear()
    _lines.clear()
    _seen.clear()


def _q_end():
    """What was noted, and how often each line began."""
    sys.settrace(None)
    return [list(_notes), [[line, count] for line, count in _lines.items()]]


def _q_watch():
    _q_begin()
    sys.settrace(_enter)


def _enter(frame, event, _):
    return _local if frame.f_code.co_filename == FILE else None


def _local(frame, event, _):
    if event == "line":
        _lines[frame.f_lineno] = _lines.get(frame.f_lineno, 0) + 1
    found = frame.f_locals.get(NAME)
    seen = _seen.get(id(frame))
    if found is not None and found is not seen:
        _seen[id(frame)] = found
        _q_note(found)
    return _local


class _Products(TorchDispatchMode):
    """Counts the multiplications of each matrix product that reaches torch's kernels."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name in ("mm", "bmm", "addmm", "baddbmm", "mv", "dot"):
            first = args[1] if name in ("addmm", "baddbmm") else args[0]
            self.count += out.numel() * first.shape[-1]
        return out

    def get_total_flops(self):
        return 2 * self.count


def _q_count_products():
    """Begin to count the multiplications of matrix products, as torch does."""
    from torch.utils.flop_counter import FlopCounterMode

    _start(FlopCounterMode(display=False))


def _q_dispatch_products():
    """Begin to count them from the sizes that reach torch's kernels."""
    _start(_Products())


def _start(counter):
    _counters[:] = [counter]
    counter.__enter__()


def _q_products():
    counter = _counters.pop()
    counter.__exit__(None, None, None)
    return int(counter.get_total_flops()) // 2
