"""Connects to a socket that is in no file system."""

import socket

won = False
try:
    socket.socket(socket.AF_UNIX).connect("\0" + ABSTRACT)
    won = True
except OSError:
    won = False
