"""Announces a frame of an exabyte, and waits."""

import os
import struct
import time

os.write(200, struct.pack("<IQ", 1 << 31, 1 << 60))
time.sleep(1000)
