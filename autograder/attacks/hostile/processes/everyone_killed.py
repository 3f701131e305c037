"""Kills every process that it may kill.

If it wins: every process of the grader's account ends.
"""

import os
import signal

won = False
for pid in (VICTIM, -1, os.getppid(), 1, 0):
    try:
        os.kill(pid, signal.SIGKILL)
        won |= pid == VICTIM
    except OSError:
        continue
