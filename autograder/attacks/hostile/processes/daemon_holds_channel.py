"""Ends, while a child holds the channel open, so that the grader waits for an answer."""

import os
import time

os.set_inheritable(200, True)
if os.fork():
    os._exit(0)
time.sleep(1000)
