"""Passes open descriptors to the grader until it has no more."""

import array
import os
import socket
from contextlib import suppress

channel = socket.socket(fileno=os.dup(200))
fds = array.array("i", [0] * 200)
with suppress(OSError):  # the channel is full
    for _ in range(64):
        channel.sendmsg([b"\0" * 12], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)], socket.MSG_DONTWAIT)
won = False
