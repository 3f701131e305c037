"""For all tests: hypothesis draws the same at each run, so that nobody's change fails for another's luck.

`make fuzz` is for luck: it draws anew, and a million times.
"""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True)
if "FUZZ_CASES" not in os.environ:
    settings.load_profile("same")
