"""Starts threads until none can be started.

If it wins: the machine runs out of threads.
"""

import threading
import time

won = False
try:
    while True:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
except RuntimeError:
    won = False
