"""Connects to a socket in the file system: a database, a container engine, an agent with keys."""

import socket

won = False
for path in (SOCKET, "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private"):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        won = True
    except OSError:
        continue
