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
    grads = tfkit.registry.load("gpt2").HF.dump({n: p.grad for n, p in ours.named_parameters()}, headed=True)
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
        ({"novelty": 3}, "fields not understood: novelty"),
        ({"architectures": ["GPT2ForSomethingElse"]}, "architectures names 'GPT2ForSomethingElse'"),
        ({"activation_function": "swoosh"}, "activation 'swoosh' is none of"),
    ],
)
def test_what_is_not_understood_is_an_error(ours, tmp_path, change, message):
    ours.save_pretrained(tmp_path)
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(ValueError, match=message):
        tfkit.from_pretrained(tmp_path)
