"""Takes all memory in small pieces.

If it wins: the machine runs out of memory.
"""

pieces = []
while True:
    pieces.append(bytearray(1 << 24))
