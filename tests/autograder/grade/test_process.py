"""A process that grades for another one: what ends it, and what comes back."""

import signal
import sys

import pytest

from autograder.grade.process import GradingFailed, GradingProcessDied, WorkerProcess

PROGRAM = """
import os, signal, sys, time
from multiprocessing.connection import Connection
from autograder.grade.process import serve

sent = []
send_bytes = Connection.send_bytes

def send(channel, data):
    sent.append(data)
    send_bytes(channel, data)

Connection.send_bytes = send

def answer(what):
    if what == b"hang":
        time.sleep(600)
    if what == b"fill":
        hoard = bytearray(os.urandom(1 << 10)) * (1 << 19)
        time.sleep(600)
    if what == b"raise":
        raise ZeroDivisionError("one line")
    if what == b"refuse":
        raise LookupError("not here")
    if what == b"interrupt":
        os.kill(os.getppid(), signal.SIGUSR1)
        time.sleep(0.5)
    if what == b"repeat":
        send_bytes(Connection(os.dup(int(sys.argv[-2]))), sent[-1])
    return what + str(os.getpid()).encode()

serve(answer, 1, {"LookupError": LookupError})
"""


@pytest.fixture
def process():
    made = WorkerProcess((sys.executable, "-P", "-c", PROGRAM), {"LookupError": LookupError})
    yield made
    made.close()


def test_exceptions_pass_and_the_process_stays(process):
    first = process.ask([b"x"])
    with pytest.raises(LookupError, match="^not here$"):
        process.ask([b"refuse"])
    with pytest.raises(GradingFailed, match="^ZeroDivisionError: one line$"):
        process.ask([b"raise"])
    assert process.ask([b"x"], most_bytes=1 << 30, most_s=60) == first


def test_one_that_takes_too_long_or_too_much_is_ended_and_replaced(process):
    first = process.ask([b"x"])
    with pytest.raises(GradingProcessDied, match="ended with -9"):
        process.ask([b"hang"], most_s=0.1)
    with pytest.raises(GradingProcessDied, match="ended with -9"):
        process.ask([b"fill"], most_bytes=1 << 28)
    assert process.ask([b"x"], most_bytes=1 << 28) not in (b"", first)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, TimeoutError, ZeroDivisionError])
def test_an_answer_that_its_owner_did_not_wait_for_is_not_given_to_the_next_request(process, kind):
    """As a time limit by SIGALRM does. TimeoutError is an OSError, but not one of the pipe."""

    def interrupt(*_):
        raise kind("from the owner")

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(kind, match="from the owner"):
            process.ask([b"interrupt"])
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert [process.ask([what])[:1] for what in (b"1", b"2")] == [b"1", b"2"]


def test_an_answer_to_an_earlier_request_is_refused(process):
    first = process.ask([b"x"])
    with pytest.raises(GradingProcessDied, match="answered another request"):
        process.ask([b"repeat"])
    assert process.ask([b"y"])[:1] == b"y" and process.ask([b"x"]) != first
