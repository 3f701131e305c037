"""Questions on earlier units, which come back after days: `recall("03-heads", after=["02-masks"])` in a notebook.

`cards` are the questions, `schedule` says when one comes back (FSRS), `record` is what a student has answered. Nothing
here counts for marks.
"""

from tfkit_lab.recall.notebook import recall

__all__ = ["recall"]
