"""Ctrl-C waits for a good moment, and is not lost: Python drops what is raised in the garbage collector's callbacks."""

import gc
import signal

import pytest

from tfkit_course.interrupt import Interrupt


def press():
    signal.raise_signal(signal.SIGINT)


def test_it_waits_for_the_next_look_and_the_handler_is_given_back():
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        interrupt.check()  # nothing was pressed
        press()
        with pytest.raises(KeyboardInterrupt):
            interrupt.check()
    assert signal.getsignal(signal.SIGINT) is before


def test_pressed_again_it_does_not_wait():
    with Interrupt():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_where_something_is_waited_for_it_is_raised_at_once():
    with Interrupt() as interrupt, pytest.raises(KeyboardInterrupt), interrupt.interruptible():
        press()
        raise AssertionError("it waited")
    with Interrupt() as interrupt:
        press()
        with pytest.raises(KeyboardInterrupt), interrupt.interruptible():
            raise AssertionError("the part began")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # that it is dropped is the point
def test_one_that_a_callback_drops_is_raised_after_the_part():
    def pressed(phase, info):
        if phase == "start":
            press()

    with Interrupt() as interrupt:
        gc.callbacks.append(pressed)
        try:
            with pytest.raises(KeyboardInterrupt), interrupt.interruptible():
                gc.collect()  # the exception ends here, in Python's own hands
                gc.callbacks.remove(pressed)
        finally:
            if pressed in gc.callbacks:
                gc.callbacks.remove(pressed)
