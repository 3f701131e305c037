"""Takes memory in processes that threads fork, which are listed with those threads alone.

If it wins: the machine runs out of memory.
"""

import os
import threading
import time

ready, says = os.pipe()


def fork():
    if os.fork() == 0:
        piece = bytearray(os.urandom(1 << 20)) * 200
        os.write(says, b"1")
        time.sleep(1000)
    time.sleep(1000)


for _ in range(6):
    threading.Thread(target=fork, daemon=True).start()
for _ in range(6):
    os.read(ready, 1)  # all of it is held
time.sleep(2)
won = True
