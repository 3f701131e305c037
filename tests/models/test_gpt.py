"""GPT is the published GPT: same numbers, same gradients, same files, same size."""

import pytest
import torch

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 99, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 40}


@pytest.fixture
def theirs(parity, request):
    return parity.shake(hf.OpenAIGPTLMHeadModel(hf.OpenAIGPTConfig(**SIZES | getattr(request, "param", {}))))


@pytest.fixture
def ours(parity, theirs, tmp_path):
    return parity.read(theirs, tmp_path)


@pytest.mark.parametrize("theirs", [{}, {"afn": "relu"}, {"n_head": 1, "afn": "swish"}], indirect=True, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(parity, theirs, ours, dtype):
    parity.assert_same_causal("gpt", theirs, ours, dtype)


def test_their_library_reads_our_files(parity, theirs, ours, tmp_path):
    parity.assert_same_files(theirs, ours, tmp_path / "ours")
