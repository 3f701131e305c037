"""Leaves a thread behind that answers questions itself."""

import socket
import threading
import time


def answer():
    channel = socket.socket(fileno=200)
    while True:
        channel.send(b"\0" * 64)
        time.sleep(0.01)


threading.Thread(target=answer, daemon=True).start()
won = False
