"""The time limit stops code that does not end, and leaves nothing behind in the interpreter."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
import time

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.diagnosis.limit import TimeLimitExceeded, repeated_time_limit, time_limit

SWALLOWED = """
try:
    with time_limit(0.05):
        try:
            while True:
                pass
        except BaseException:
            pass
except TimeLimitExceeded:
    pass
"""
RAISED = """
try:
    with time_limit(0.05):
        while True:
            pass
except TimeLimitExceeded:
    pass
"""
PROFILED = """
import sys
from autograder.diagnosis.limit import TimeLimitExceeded, repeated_time_limit, time_limit
def called():
    return "went on"
{}
sys.setprofile(lambda *event: None)
answer = called()
sys.setprofile(None)
print(answer)
"""


def test_code_that_does_not_end_is_stopped():
    with pytest.raises(TimeLimitExceeded), time_limit(0.05):
        while True:
            pass


def test_time_in_which_others_have_the_processor_does_not_count():
    with time_limit(0.2):
        time.sleep(0.6)  # as on a busy machine: more than the limit passes, and this thread needs none of it


def test_code_that_only_waits_is_stopped_too():
    with pytest.raises(TimeLimitExceeded), time_limit(0.02):
        while True:
            time.sleep(0.01)


def test_code_that_ends_in_time_is_left_alone():
    with time_limit(60):
        answer = sum(range(1000))
    assert answer == 499500


@pytest.mark.parametrize("stopped", [RAISED, SWALLOWED], ids=["raised", "swallowed"])
def test_nothing_is_pending_afterwards(stopped):
    # Python 3.11 never gets past the start of a profiled function while it believes that an exception is pending
    command = [sys.executable, "-c", PROFILED.format(stopped)]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout == "went on\n"


def test_a_mode_of_torch_that_the_block_did_not_leave_is_left():
    class Mode(TorchDispatchMode):
        pass

    before = torch._C._len_torch_dispatch_stack()
    with pytest.raises(TimeLimitExceeded), time_limit(0.05):
        Mode().__enter__()
        while True:
            pass
    with repeated_time_limit(0.05) as limit, pytest.raises(TimeLimitExceeded), limit():
        Mode().__enter__()
        while True:
            pass
    assert torch._C._len_torch_dispatch_stack() == before


def test_where_no_thread_can_watch_the_functions_of_a_block_are_traced(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    def never_ends():
        while True:
            pass

    monkeypatch.setattr(threading.Thread, "start", refuse)
    before = sys.gettrace()
    with pytest.raises(TimeLimitExceeded), time_limit(0.05):
        never_ends()
    with repeated_time_limit(0.05) as limited:
        for _ in range(2):
            with pytest.raises(TimeLimitExceeded), limited():
                never_ends()
            with limited():
                assert math.hypot(3, 4) == 5
    assert sys.gettrace() is before
