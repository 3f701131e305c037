"""Raises in destructors, exit handlers and the exception hook."""

import atexit
import sys


class Bad:
    def __del__(self):
        raise SystemExit(0)


sys.excepthook = lambda *a: atexit._run_exitfuncs()
atexit.register(lambda: 1 / 0)
things = [Bad() for _ in range(100)]
del things
won = False
