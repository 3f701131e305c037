"""How many files a reader must open to follow a call of `generate` from the ids to the model."""

import sys
from pathlib import Path

import pytest
import torch

import tfkit
from tfkit.decode import Sample

ROOT = Path(tfkit.__file__).parent


def model(name, head):
    torch.manual_seed(0)
    sizes = dict(vocab_size=40, d_model=16, n_layers=1, n_heads=2, d_ff=32, max_length=32)
    return tfkit.from_config(name, head, **sizes, eos_token_id=1, pad_token_id=2).eval()


def files_until(target, call, folder="models"):
    """The files of ours that `call` passes through, in order, until a function called `target` of the folder begins."""
    found: list[str] = []
    before = sys.getprofile()  # a profiler, not a tracer: under sys.settrace a call after torch.compile has not ended

    def profile(frame, event, arg):
        file = Path(frame.f_code.co_filename)
        if event == "call" and ROOT in file.parents:
            name = file.relative_to(ROOT).as_posix()
            if file.parent == ROOT / folder and frame.f_code.co_name == target:
                sys.setprofile(None)
            elif name not in found:
                found.append(name)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize(
    ("name", "head", "target", "settings"),
    [
        ("gpt2", "causal_lm", "forward", {}),
        ("gpt2", "causal_lm", "forward", {"strategy": Sample(top_k=5)}),
        ("transformer", "seq2seq_lm", "encode", {}),
    ],
    ids=["greedy", "sampling", "encoder-decoder"],
)
def test_a_call_reaches_the_model_through_five_files_at_most(name, head, target, settings):
    ours = model(name, head)
    ids = torch.tensor([[3, 4, 5], [6, 7, 8]])
    call = lambda: tfkit.generate(ours, ids, max_new_tokens=2, **settings)
    call()  # what is imported on first use is no part of the walk
    found = files_until(target, call)
    assert "decode/generate.py" in found and "decode/decoders.py" in found, found
    assert len(found) <= 5, found


def test_the_ids_pass_six_files_before_the_first_product():
    """`generate`, the search and the decoder, then the interface of models, the model, and the checks of its input."""
    ours, ids = model("gpt2", "causal_lm"), torch.tensor([[3, 4, 5], [6, 7, 8]])
    call = lambda: tfkit.generate(ours, ids, max_new_tokens=2)
    call()
    found = set(files_until("split_heads", call, folder="nn"))
    without_ids = {"decode/settings.py", "nn/cache.py", "nn/positions.py", "nn/dropout.py", "nn/attention.py"}
    assert found - without_ids == {
        "decode/generate.py", "decode/search.py", "decode/decoders.py", "models/_base.py", "models/gpt2.py",
        "models/_checks.py",
    }  # fmt: skip


def test_processors_are_one_file_more():
    ours, ids = model("gpt2", "causal_lm"), torch.tensor([[3, 4, 5]])
    call = lambda **how: tfkit.generate(ours, ids, max_new_tokens=2, **how)
    call(repetition_penalty=2.0)
    plain = files_until("forward", call)
    found = files_until("forward", lambda: call(repetition_penalty=2.0))
    assert set(found) - set(plain) == {"decode/logits_processors.py"}
