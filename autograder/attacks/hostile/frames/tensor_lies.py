"""Sends tensors whose sizes, places and types are lies."""

import json
import os
import struct

for entry in (["f32", [1 << 30], 0, 4, "cpu", None], ["f32", [-1], 0, 4, "cpu", None], ["obj", [1], 0, 4, "cpu", None],
              ["f32", [1], 1 << 39, 4, "cpu", None], ["f32", [1] * 99, 0, 4, "cpu", None]):
    header = json.dumps({"v": {"d": [["id", 2], ["ok", {"t": 0}]]}, "t": [entry]}).encode()
    os.write(200, struct.pack("<IQ", len(header), 4) + header + b"\0\0\0\0")
won = False
