"""Connects to a service on the grader's machine."""

import socket

won = False
for address in ("127.0.0.1", "localhost", "0.0.0.0"):
    try:
        socket.create_connection((address, PORT), timeout=0.3).send(b"hello")
        won = True
    except OSError:
        continue
