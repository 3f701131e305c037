"""Transformer-XL against the last transformers that has it, 4.30.2, which stands in a folder of its own.

    pip install --no-deps --target build/transformers-4.30.2 transformers==4.30.2 tokenizers==0.13.3
    python -m bench.transformer_xl --older build/transformers-4.30.2

Two transformers cannot be imported into one process, so each side is a process, and both take their steps in turns.
Weights, ids and the memory of earlier states are the same; the two sides agree before they are timed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tfkit_course.command_line import make_parser

D, HEADS, LAYERS, VOCAB = 256, 8, 4, 4000  # as in `bench.rows`
SIZES: dict[str, Any] = {
    "vocab_size": VOCAB, "cutoffs": [1000, 2000], "div_val": 2, "d_model": D, "d_embed": D, "n_head": HEADS,
    "d_head": D // HEADS, "d_inner": 4 * D, "n_layer": LAYERS, "mem_len": 256, "trainer_compatible": True,
}  # fmt: skip
TASKS = ("forward", "training step")
CHILD = """
import json, sys, time
import torch
torch.set_num_threads(1)
side, directory, rows, length, sizes = sys.argv[1:]
rows, length = int(rows), int(length)
torch.manual_seed(0)
if side == "transformers":
    from transformers import TransfoXLConfig, TransfoXLLMHeadModel
    model = TransfoXLLMHeadModel(TransfoXLConfig(**json.loads(sizes)))
    model.save_pretrained(directory)
else:
    import tfkit
    model = tfkit.from_pretrained(directory)
ids = torch.randint(3, 4000, (rows, length), generator=torch.Generator().manual_seed(length))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)
def forward():
    with torch.no_grad():
        return model.eval()(ids)[0]
def train():
    optimizer.zero_grad()
    model.train()(ids, labels=ids).loss.backward()
    optimizer.step()
found = forward()
print(json.dumps([float(x) for x in found.flatten()[:: max(1, found.numel() // 999)]]), flush=True)
for line in sys.stdin:
    start = time.process_time()
    (forward if line.strip() == "forward" else train)()
    print(time.process_time() - start, flush=True)
"""


class Side:
    """One side's process: its sample of the scores, and the CPU seconds of a task whenever it is asked."""

    def __init__(self, name: str, directory: str, rows: int, length: int, path: str | None) -> None:
        self.name = name
        env = {**os.environ, **({"PYTHONPATH": path} if path else {})}
        command = [sys.executable, "-c", CHILD, name, directory, str(rows), str(length), json.dumps(SIZES)]
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.scores: list[float] = json.loads(self.read())

    def read(self) -> str:
        """The process's next line. Raises ValueError with the last line of its error output if it has ended."""
        assert self.process.stdout is not None and self.process.stderr is not None
        line = self.process.stdout.readline()
        if not line:
            lines = self.process.stderr.read().strip().splitlines() or ["no message"]
            raise ValueError(f"{self.name} stopped: {lines[-1]}")
        return line

    def seconds(self, task: str) -> float:
        """The CPU seconds of one more run of a task."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{task}\n")
        self.process.stdin.flush()
        return float(self.read())

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def both_sides(older: str, rows: int, length: int) -> Iterator[tuple[Side, Side]]:
    """The sides of transformers and of tfkit, with the same weights. Raises ValueError if one cannot start or
    their scores differ by 1e-3."""
    opened: list[Side] = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            for name, path in (("transformers", older), ("tfkit", None)):
                opened.append(Side(name, directory, rows, length, path))
            reference, candidate = opened
            gap = max(abs(a - b) for a, b in zip(reference.scores, candidate.scores, strict=True))
            if gap > 1e-3:
                raise ValueError(f"the scores differ by {gap:.2g}")
            yield reference, candidate
        finally:
            for side in opened:
                side.close()


def measure(older: str, rows: int, length: int, turns: int) -> dict[str, float]:
    """Task -> the time of transformers over that of tfkit, each at its best of several turns after a first one."""
    ratios = {}
    with both_sides(older, rows, length) as sides:
        for task in TASKS:
            times = [[side.seconds(task) for side in sides] for _ in range(turns + 1)][1:]
            transformers_time, tfkit_time = map(min, zip(*times, strict=True))
            ratios[task] = transformers_time / tfkit_time
    return ratios


def main(arguments: list[str] | None = None) -> int:
    """The command: prints the table and the load of the machine."""
    about = (__doc__ or "").partition("\n")[0]
    parser = make_parser("bench.transformer_xl", about)
    parser.add_argument("--older", required=True, metavar="FOLDER", help="where transformers 4.30.2 is installed")
    parser.add_argument("--tokens", type=int, nargs="+", default=[256, 1024], help="tokens of a text")
    parser.add_argument("--rows", type=int, default=4, help="texts of a batch")
    parser.add_argument(
        "--turns",
        type=int,
        default=5,
        help="measurements of each side, of which the best counts (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    if not (Path(options.older) / "transformers").is_dir():
        parser.error(f"there is no transformers in {options.older}: see python -m pydoc bench.transformer_xl")
    print(f"| | tokens | {' | '.join(TASKS)} |\n|---|---|---|---|", flush=True)
    for length in options.tokens:
        ratios = measure(str(Path(options.older).resolve()), options.rows, length, options.turns)
        cells = " | ".join(f"{ratios[task]:.2f}" for task in TASKS)
        print(f"| transformer_xl | {length} | {cells} |", flush=True)
    if hasattr(os, "getloadavg"):  # not on Windows
        print(f"load {os.getloadavg()[1]:.0f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
