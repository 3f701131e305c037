"""Opens sockets of families that a network namespace does not confine or that read every packet."""

import socket

won = False
for family, kind, protocol in ((40, socket.SOCK_STREAM, 0), (17, socket.SOCK_RAW, 0x300), (2, socket.SOCK_RAW, 1),
                               (38, socket.SOCK_SEQPACKET, 0), (16, socket.SOCK_RAW, 9), (31, socket.SOCK_RAW, 1)):
    try:
        socket.socket(family, kind, protocol)
        won |= family != 38
    except OSError:
        continue
