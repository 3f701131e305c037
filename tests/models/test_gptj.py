"""GPT-J is the published GPT-J: same numbers, same gradients, same files, same sizes."""

import pytest
import torch

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 99, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 40, "rotary_dim": 4}
SIZES |= {"bos_token_id": 1, "eos_token_id": 2}


@pytest.fixture
def theirs(parity, request):
    return parity.shake(hf.GPTJForCausalLM(hf.GPTJConfig(**SIZES | getattr(request, "param", {}))))


@pytest.fixture
def ours(parity, theirs, tmp_path):
    return parity.read(theirs, tmp_path)


@pytest.mark.parametrize(
    "theirs", [{}, {"n_inner": 24, "n_head": 2, "rotary_dim": 16}, {"rotary_dim": 2}], indirect=True, ids=str
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(parity, theirs, ours, dtype, monkeypatch):
    if dtype == torch.float64:
        monkeypatch.setattr("transformers.models.gptj.modeling_gptj.torch", parity.Double())
        dim = theirs.config.rotary_dim  # their table has the digits of float32
        angle = torch.arange(40.0).double()[:, None] * 10000 ** (-torch.arange(0, dim, 2).double() / dim)
        for block in theirs.transformer.h:
            block.attn.embed_positions = torch.cat([angle.sin(), angle.cos()], dim=-1)
    parity.assert_same_causal("gptj", theirs, ours, dtype)


def test_their_library_reads_our_files(parity, theirs, ours, tmp_path):
    parity.assert_same_files(theirs, ours, tmp_path / "ours")
