"""GPT-J is the published GPT-J: same numbers, same gradients, same files, same sizes."""

import pytest
import torch

import tfkit

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
    "theirs",
    [{}, {"tie_word_embeddings": True}, {"n_inner": 24, "n_head": 2, "rotary_dim": 16}, {"rotary_dim": 2}],
    indirect=True,
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(parity, theirs, ours, dtype, monkeypatch):
    if dtype == torch.float64:
        monkeypatch.setattr("transformers.models.gptj.modeling_gptj.torch", parity.Double())
        dim = theirs.config.rotary_dim  # their table has the digits of float32
        angle = torch.arange(40.0).double()[:, None] * 10000 ** (-torch.arange(0, dim, 2).double() / dim)
        for module in theirs.modules():
            if hasattr(module, "embed_positions"):  # each layer's attention; since transformers 5.24, one for all
                module.embed_positions = torch.cat([angle.sin(), angle.cos()], dim=-1)
    parity.assert_same_causal("gptj", theirs, ours, dtype)


def test_their_library_reads_our_files(parity, theirs, ours, tmp_path):
    parity.assert_same_files(theirs, ours, tmp_path / "ours")


@pytest.mark.parametrize("tied", [False, True])
@torch.no_grad()
def test_a_model_of_our_own_is_theirs_tied_or_not(tied, tmp_path):
    sizes = {"vocab_size": 30, "d_model": 16, "n_layers": 1, "n_heads": 2, "max_length": 20, "rotary_dim": 4}
    model = tfkit.from_config("gptj", head="causal_lm", tie_word_embeddings=tied, **sizes).eval()
    model.get_parameter("score_bias" if tied else "lm_head.bias").normal_()
    model.save_pretrained(tmp_path)
    theirs = hf.GPTJForCausalLM.from_pretrained(tmp_path).eval()
    assert (theirs.lm_head.weight is theirs.transformer.wte.weight) == tied
    assert model.num_parameters() == theirs.num_parameters()
    ids = torch.tensor([[3, 9, 4, 7]])
    torch.testing.assert_close(model(ids).logits, theirs(ids).logits)


def test_untied_is_the_default_as_in_their_library():
    fields = {"vocab_size": 30, "d_model": 16, "n_layers": 1, "n_heads": 2, "max_length": 20, "rotary_dim": 4}
    model = tfkit.from_config("gptj", head="causal_lm", **fields)
    assert model.config.tie_word_embeddings is hf.GPTJConfig().tie_word_embeddings is False
    assert model.get_output_embeddings() is model.lm_head
