"""How many files a reader must open to follow a call of `generate` from the ids to the model.

Calls are followed in a process of its own: where torch.compile has run before, a call under a profiler may not end.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch

import tfkit
from tfkit.decode import Sample

ROOT = Path(tfkit.__file__).parent
CHECKS = {"decode/checks.py"}  # of what was asked for: nobody who follows the ids needs to read them


@pytest.fixture(scope="module")
def fresh_process():
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def files_until(fresh_process):
    """The function below, in the other process."""
    return lambda *args, **kwargs: fresh_process.submit(follow, *args, **kwargs).result(timeout=120)


def follow(name, head, target, folder="models", **settings):
    """The files of tfkit that a call of `generate` passes through, in order, until a function called `target` of the
    folder begins."""
    torch.manual_seed(0)
    sizes = dict(vocab_size=40, d_model=16, n_layers=1, n_heads=2, d_ff=32, max_length=32)
    model = tfkit.from_config(name, head, **sizes, eos_token_id=1, pad_token_id=2).eval()
    ids = torch.tensor([[3, 4, 5], [6, 7, 8]])
    tfkit.generate(model, ids, max_new_tokens=2, **settings)  # what is imported on first use is no part of the walk
    found: list[str] = []

    def profile(frame, event, arg):
        file = Path(frame.f_code.co_filename)
        if event == "call" and ROOT in file.parents:
            path = file.relative_to(ROOT).as_posix()
            if file.parent == ROOT / folder and frame.f_code.co_name == target:
                sys.setprofile(None)
            elif path not in found:
                found.append(path)

    sys.setprofile(profile)
    try:
        tfkit.generate(model, ids, max_new_tokens=2, **settings)
    finally:
        sys.setprofile(None)
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
def test_a_call_reaches_the_model_through_five_files_at_most(files_until, name, head, target, settings):
    found = files_until(name, head, target, **settings)
    assert "decode/generate.py" in found and "decode/decoders.py" in found, found
    assert len(set(found) - CHECKS) <= 5, found


def test_the_ids_pass_six_files_before_the_first_product(files_until):
    """`generate`, the search and the decoder, then the interface of models, the model, and the checks of its input."""
    found = set(files_until("gpt2", "causal_lm", "split_heads", folder="nn"))
    without_ids = CHECKS | {"decode/settings.py", "nn/cache.py", "nn/positions.py", "nn/dropout.py", "nn/attention.py"}
    assert found - without_ids == {
        "decode/generate.py", "decode/search.py", "decode/decoders.py", "models/_base.py", "models/gpt2.py",
        "models/_checks.py",
    }  # fmt: skip


def test_processors_are_one_file_more(files_until):
    plain = files_until("gpt2", "causal_lm", "forward")
    found = files_until("gpt2", "causal_lm", "forward", repetition_penalty=2.0)
    assert set(found) - set(plain) == {"decode/logits_processors.py"}
