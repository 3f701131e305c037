"""Opens files until none can be opened."""

import os

kept = []
try:
    while True:
        kept.append(os.dup(0))
except OSError:
    won = False
