"""Sends half a frame, and waits."""

import os
import struct
import time

os.write(200, struct.pack("<IQ", 100, 0) + b'{"v": {"d": [')
time.sleep(1000)
