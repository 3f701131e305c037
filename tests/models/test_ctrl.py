"""CTRL is the published CTRL: same numbers, same gradients, same files, same sizes."""

import pytest
import torch

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 99, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 40, "dff": 48}


@pytest.fixture
def theirs(parity, request):
    return parity.shake(hf.CTRLLMHeadModel(hf.CTRLConfig(**SIZES | getattr(request, "param", {}))))


@pytest.fixture
def ours(parity, theirs, tmp_path):
    return parity.read(theirs, tmp_path)


@pytest.mark.parametrize("theirs", [{}, {"n_head": 1, "layer_norm_epsilon": 1e-3}], indirect=True, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(parity, theirs, ours, dtype, monkeypatch):
    if dtype == torch.float64:  # their table has the digits of float32
        angle = torch.arange(40.0).double()[:, None] * 10000 ** (-torch.arange(0, 32, 2).double() / 32)
        theirs.transformer.pos_encoding = ours.sinusoids = torch.cat([angle.sin(), angle.cos()], dim=-1)
    parity.assert_same_causal("ctrl", theirs, ours, dtype)


def test_their_library_reads_our_files(parity, theirs, ours, tmp_path):
    parity.assert_same_files(theirs, ours, tmp_path / "ours")
