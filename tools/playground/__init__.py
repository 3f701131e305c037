"""The page to play with (`course/lite/playground`): a transformer with a million parameters that runs in the browser.

`python -m tools.playground` makes its sentences, trains it, and writes the file that the page loads, and the numbers of
tfkit to which the page's forward pass is held.
"""

from __future__ import annotations

from pathlib import Path

from course.lite.first_page import MODEL as MODEL

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "data" / "playground.json"
START = "<|start|>"  # before each text
