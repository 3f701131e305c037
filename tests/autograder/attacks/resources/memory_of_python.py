"""Takes all memory in small pieces."""

pieces = []
while True:
    pieces.append(bytearray(1 << 24))
