"""Stops itself, so that no deadline inside can ring."""

import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
won = False
