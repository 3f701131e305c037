"""What the measurements open: `data.py FOLDER` (emptied first) makes pages, a notebook, and the sizes of both."""

import json
import shutil
import sys
from pathlib import Path

import nbformat
import torch

import tfkit
from tfkit.decode import Greedy, record
from tfkit_lab import Stepper, show

SMALL = dict(vocab_size=500, d_model=96, n_layers=12, n_heads=12, max_length=600)
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
FRAMES = f"""import asyncio, time, torch, tfkit
from tfkit_lab import show
torch.manual_seed(0)
model = tfkit.from_config("gpt2", head="causal_lm", **{SMALL!r}).eval()
for parameter in model.parameters():
    parameter.data += 0.15 * torch.randn_like(parameter)
recorded = lambda name: show.attention(model, input_ids=torch.randint(0, 500, (1, 128)), title=name)
frames = [recorded(f"frame {{i}}").trace for i in range(12)]
view = recorded("first")
started = []
view"""
SEND = """async def send():
    for frame in frames:
        await asyncio.sleep(2)
        started.append(time.time())
        view.trace = frame
sending = asyncio.create_task(send())"""


def writer() -> torch.nn.Module:
    """12 layers of 12 heads, whose weights are noise: trained ones look more alike, and squeeze better."""
    torch.manual_seed(0)
    model = tfkit.from_config("gpt2", head="causal_lm", **SMALL).eval()
    for parameter in model.parameters():
        parameter.data += 0.15 * torch.randn_like(parameter)
    return model


def steps(model: torch.nn.Module, prompt: int, title: str) -> Stepper:
    """60 steps after a prompt of so many tokens."""
    ids = torch.randint(0, SMALL["vocab_size"], (prompt,))
    how = dict(token=lambda i: f"word{i}", strategy=Greedy(), end_id=-1, max_new_tokens=60, title=title)
    return Stepper(record(model, ids, **how))


def main(root: Path) -> None:
    """Writes pages, a notebook and sizes.json (bytes of each view's state) to `root`, which is emptied first."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    model = writer()
    pictures = {"steps": steps(model, 8, "60 steps"), "long": steps(model, 452, "512 tokens")}
    pictures["maps"] = show.attention(model, input_ids=torch.randint(0, 500, (1, 512)), title="512 tokens")
    for name, picture in pictures.items():
        (root / f"{name}.html").write_text(picture.to_html(), encoding="utf-8")
    words = [f"word{i}" for i in range(16)]
    pictures["walk"] = show.walk(model, input_ids=torch.randint(0, 500, (1, 16)), tokens=words, token=str)
    (root / "walk.html").write_text(pictures["walk"].to_html(), encoding="utf-8")
    sizes = {name: len(json.dumps(picture.state())) for name, picture in pictures.items()}
    (root / "sizes.json").write_text(json.dumps(sizes))
    cells = [nbformat.v4.new_code_cell(FRAMES), nbformat.v4.new_code_cell(SEND), nbformat.v4.new_code_cell("started")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), root / "frames.ipynb")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
