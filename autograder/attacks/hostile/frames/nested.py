"""Sends a header of two hundred thousand brackets."""

import os
import struct

os.write(200, struct.pack("<IQ", 200_000, 0) + b"[" * 200_000)
won = False
