"""Mounts the machine's root, a control group with a release agent, and an overlay.

If it wins: file systems are mounted in the working folder.
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
won = False
for kind, source in ((b"cgroup", b"memory"), (b"cgroup2", b"none"), (b"proc", b"proc"), (b"ext4", b"/dev/vda"),
                     (b"tmpfs", b"none"), (b"overlay", b"overlay")):  # fmt: skip
    os.makedirs("m", exist_ok=True)
    won |= libc.mount(source, b"m", kind, 0, None) == 0
won |= libc.mount(b"/", b"m", None, 4096, None) == 0
