"""Sends datagrams, which need no answer."""

import socket

won = False
try:
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _ in range(10):
        sender.sendto(b"hello", ("127.0.0.1", PORT))
        sender.sendto(b"hello", ("8.8.8.8", 53))
except OSError:
    won = False
