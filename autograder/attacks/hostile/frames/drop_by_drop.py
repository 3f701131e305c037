"""Sends a frame a byte at a time, so that each read succeeds."""

import os
import struct
import time

os.write(200, struct.pack("<IQ", 1 << 20, 0))
while True:
    os.write(200, b" ")
    time.sleep(0.05)
