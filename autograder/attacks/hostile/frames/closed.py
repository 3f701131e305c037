"""Closes the channel and computes on."""

import os
import time

os.close(200)
time.sleep(1000)
