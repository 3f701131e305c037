"""Opens a service on the grader's machine that others can reach."""

import socket

won = False
try:
    server = socket.socket()
    server.bind(("0.0.0.0", SERVED))
    server.listen()
    server.settimeout(1.0)
    won = bool(server.accept())
except OSError:
    won = False
