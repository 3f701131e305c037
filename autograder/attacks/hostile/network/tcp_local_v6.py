"""Connects to a service on the grader's machine by its other address."""

import socket

won = False
try:
    socket.create_connection(("::1", PORT), timeout=0.3).send(b"hello")
    won = True
except OSError:
    won = False
