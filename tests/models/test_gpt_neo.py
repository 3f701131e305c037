"""GPT-Neo is the published GPT-Neo: same numbers, same gradients, same files, same sizes."""

import pytest
import torch

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 99, "hidden_size": 32, "num_layers": 3, "num_heads": 4, "max_position_embeddings": 40}
SIZES |= {"attention_types": [[["global", "local"], 1], [["local"], 1]], "window_size": 4, "bos_token_id": 1}
SIZES |= {"eos_token_id": 2}


@pytest.fixture
def theirs(parity, request):
    return parity.shake(hf.GPTNeoForCausalLM(hf.GPTNeoConfig(**SIZES | getattr(request, "param", {}))))


@pytest.fixture
def ours(parity, theirs, tmp_path):
    return parity.read(theirs, tmp_path)


@pytest.mark.parametrize(
    "theirs", [{}, {"intermediate_size": 24, "activation_function": "relu"}], indirect=True, ids=str
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(parity, theirs, ours, dtype, monkeypatch):
    if dtype == torch.float64:
        monkeypatch.setattr("transformers.models.gpt_neo.modeling_gpt_neo.torch", parity.Double())
    parity.assert_same_causal("gpt_neo", theirs, ours, dtype)


def test_their_library_reads_our_files(parity, theirs, ours, tmp_path):
    parity.assert_same_files(theirs, ours, tmp_path / "ours")
