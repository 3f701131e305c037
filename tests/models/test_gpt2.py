"""GPT-2 is the published GPT-2: same numbers, same gradients, same files, same sizes."""

import json

import pytest
import torch

import tfkit

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 99, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 40}
SIZES |= {"bos_token_id": 1, "eos_token_id": 2}


@pytest.fixture
def theirs():
    torch.manual_seed(0)
    model = hf.GPT2LMHeadModel(hf.GPT2Config(**SIZES)).eval()
    for parameter in model.parameters():  # fresh biases are zero and fresh norms one: that would hide a mix-up
        parameter.data += 0.05 * torch.randn_like(parameter)
    return model


@pytest.fixture
def ours(theirs, tmp_path):
    theirs.save_pretrained(tmp_path)
    return tfkit.from_pretrained(tmp_path)


def batch():
    ids = torch.randint(3, 99, (3, 11), generator=torch.Generator().manual_seed(1))
    mask = (torch.arange(11) < torch.tensor([[11], [7], [9]])).long()
    return ids, mask, ids.masked_fill(mask == 0, -100)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(theirs, ours, dtype):
    ids, mask, labels = batch()
    theirs, ours = theirs.to(dtype), ours.to(dtype)
    expected, out = theirs(ids, attention_mask=mask, labels=labels), ours(ids, mask, labels=labels)
    close = {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-6, "atol": 1e-6}
    torch.testing.assert_close(out.logits[mask == 1], expected.logits[mask == 1], **close)
    torch.testing.assert_close(out.loss.to(dtype), expected.loss.to(dtype), **close)
    out.loss.backward(), expected.loss.backward()
    grads = tfkit.registry.load("gpt2").HF.dump({n: p.grad for n, p in ours.named_parameters()}, with_head=True)
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(grads[name], parameter.grad, **close)


def test_their_library_reads_our_files(theirs, ours, tmp_path):
    ours.save_pretrained(tmp_path / "ours")
    again = hf.GPT2LMHeadModel.from_pretrained(tmp_path / "ours")
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name


def test_the_trace_shows_their_attention(theirs, ours):
    ids, _, _ = batch()
    theirs.set_attn_implementation("eager")
    expected = theirs(ids, output_attentions=True).attentions
    with tfkit.trace(ours) as t:
        ours(ids)
    for layer in range(3):
        torch.testing.assert_close(t[f"layers.{layer}.attn.weights"], expected[layer], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"summary_type": "first"}, "summary_type is 'first'; only 'cls_index'"),
        ({"novelty": 3}, "unknown fields: novelty"),
        ({"architectures": ["GPT2ForSomethingElse"]}, "architectures names 'GPT2ForSomethingElse'"),
        ({"activation_function": "swoosh"}, "activation 'swoosh' is not one of"),
    ],
)
def test_what_is_not_understood_is_an_error(ours, tmp_path, change, message):
    ours.save_pretrained(tmp_path)
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(ValueError, match=message):
        tfkit.from_pretrained(tmp_path)


CROSS = {**SIZES, "add_cross_attention": True}


def looking(flags, tmp_path):
    """transformers' and tfkit's model with the same weights, and what both look at: states of unequal length."""
    torch.manual_seed(0)
    model = hf.GPT2LMHeadModel(hf.GPT2Config(**CROSS, **flags)).double().eval()
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    model.save_pretrained(tmp_path)
    states = 3 * torch.randn(3, 5, 32, dtype=torch.float64)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0]])
    across = {"encoder_hidden_states": states, "encoder_attention_mask": mask}
    return model, tfkit.from_pretrained(tmp_path, dtype=torch.float64), across


@pytest.mark.parametrize(
    "flags", [{}, {"scale_attn_by_inverse_layer_idx": True}, {"scale_attn_weights": False}], ids=str
)
def test_cross_attention_standing_alone(flags, tmp_path):
    theirs, ours, across = looking(flags, tmp_path)
    ids, mask, labels = batch()
    given = {"attention_mask": mask, "labels": labels, **across}
    expected, out = theirs(ids, **given), ours(ids, **given)
    close = {"rtol": 1e-6, "atol": 1e-6}
    torch.testing.assert_close(out.logits[mask == 1], expected.logits[mask == 1], **close)
    out.loss.backward(), expected.loss.backward()
    grads = tfkit.registry.load("gpt2").HF.dump({n: p.grad for n, p in ours.named_parameters()}, with_head=True)
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(grads[name], parameter.grad, **close)
    with torch.no_grad():  # nobody has to be looked at
        alone = theirs(ids, attention_mask=mask).logits
        torch.testing.assert_close(ours(ids, mask).logits[mask == 1], alone[mask == 1], **close)
    ours.save_pretrained(tmp_path / "ours")
    again = hf.GPT2LMHeadModel.from_pretrained(tmp_path / "ours")
    assert again.config.add_cross_attention
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name


@pytest.mark.parametrize("how", [{}, {"num_beams": 3, "num_return_sequences": 2}], ids=str)
def test_generating_with_cross_attention(how, tmp_path):
    """With caches on both sides, prompts of unequal length, and beams, each of which looks at its own sentence's."""
    theirs, ours, across = looking({}, tmp_path)
    ids = batch()[0][:, :6]
    mask = (torch.arange(6) >= torch.tensor([[0], [2], [1]])).long()  # padding on the left
    ids = ids.masked_fill(mask == 0, 0)
    given = {"attention_mask": mask, "max_new_tokens": 9, **across, **how}
    expected = theirs.generate(ids, **given, do_sample=False, eos_token_id=None, pad_token_id=0)
    found = tfkit.generate(ours, ids, **given, end_id=-1, pad_id=0)
    assert torch.equal(found, expected)
    if not how:
        assert torch.equal(tfkit.generate(ours, ids, **given, end_id=-1, pad_id=0, compile="eager"), found)
    moved = {**across, "encoder_hidden_states": across["encoder_hidden_states"].flip(0)}
    assert not torch.equal(tfkit.generate(ours, ids, **{**given, **moved}, end_id=-1, pad_id=0), found)


def test_who_has_nothing_to_look_with_says_so():
    states, ids = torch.zeros(1, 2, 16), torch.ones(1, 3, dtype=torch.long)
    sizes = {"vocab_size": 20, "d_model": 16, "n_layers": 1, "n_heads": 2, "max_length": 8}
    plain = tfkit.from_config("gpt2", head="causal_lm", **sizes)
    with pytest.raises(ValueError, match="no cross-attention: create it with add_cross_attention=True"):
        plain(ids, encoder_hidden_states=states)
    with pytest.raises(ValueError, match="encoder_attention_mask was given without encoder_hidden_states"):
        tfkit.from_config("gpt2", head="causal_lm", add_cross_attention=True, **sizes)(
            ids, encoder_attention_mask=torch.ones(1, 2)
        )
    with pytest.raises(ValueError, match="add_cross_attention is True: GPTJ has no cross-attention"):
        tfkit.from_config("gptj", head="causal_lm", add_cross_attention=True, rotary_dim=2, **sizes)
    llama = {"vocab_size": 20, "d_model": 16, "n_layers": 1, "n_heads": 2, "n_kv_heads": 1, "d_ff": 16}
    with pytest.raises(TypeError, match="encoder_hidden_states: Llama is not a decoder with cross-attention"):
        tfkit.generate(tfkit.from_config("llama", head="causal_lm", **llama), ids, encoder_hidden_states=states)
