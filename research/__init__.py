"""Claims of the papers, tried at small scale: `python -m research`, in the checkout.

A claim is a module of `research.claims`, or one that an entry point of the group `tfkit.claims` names: its docstring
says what is claimed, where, what is measured and why the bands are what they are; and it has

    CLAIM = Claim(title, paper, alt)
    SCALES = {"tiny": Size(…), "small": Size(…), "full": Size(…)}   # its own frozen dataclass; tiny is for the tests
    def run(seed: int, size: Size) -> Numbers          # one seed's measurements, ready for JSON
    def judge(runs: Sequence[Numbers]) -> list[Measurement]   # from all seeds' measurements
    def draw(runs: Sequence[Numbers]) -> Figure           # of matplotlib

At scale `small` a seed takes at most a minute and a half on one core. Besides the types, claims share `train`, the
training loop, `cpu_seconds`, a clock, `figure`, and `lengths` for its axes.
"""

from research.contract import Claim, Measurement, Numbers, cpu_seconds, figure, lengths, train

__all__ = ["Claim", "Measurement", "Numbers", "cpu_seconds", "figure", "lengths", "train"]
