"""ModernBERT is the published one: every head's numbers and gradients, and files of both layouts."""

from __future__ import annotations

import json

import pytest
import torch

import tfkit

hf = pytest.importorskip("transformers")
SIZES = {
    "vocab_size": 99, "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 4, "num_attention_heads": 4,
    "max_position_embeddings": 64, "local_attention": 6, "pad_token_id": 0, "num_labels": 3, "bos_token_id": 1,
    "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2,
}  # fmt: skip
BIASES = {"attention_bias": True, "mlp_bias": True, "norm_bias": True, "classifier_bias": True, "decoder_bias": False}
FLOAT32 = {"rtol": 1e-4, "atol": 1e-5}
SCALED = {"rope_type": "linear", "factor": 2.0}
HEADS = {
    "MaskedLM": {"labels": "words"}, "SequenceClassification": {"labels": "classes"},
    "TokenClassification": {"labels": "kinds"}, "MultipleChoice": {"labels": "choices"},
    "QuestionAnswering": {"start_positions": "classes", "end_positions": "classes"},
}  # fmt: skip


def made(parity, name, **changes):
    config = hf.ModernBertConfig(**{**SIZES, **changes})
    return parity.shake(getattr(hf, f"ModernBert{name}")(config))


def given(parity, head):
    """Ids, a mask, and what the head learns from."""
    ids, mask, labels = parity.ragged()
    known = {"words": labels, "classes": torch.tensor([0, 2, 1]), "kinds": labels % 3, "choices": torch.tensor([1])}
    known["kinds"] = (ids % 3).masked_fill(mask == 0, -100)
    if head == "MultipleChoice":
        ids, mask = ids[None], mask[None]
    return {"input_ids": ids, "attention_mask": mask, **{name: known[what] for name, what in HEADS[head].items()}}


def close(parity, theirs, ours, inputs, tolerance=FLOAT32):
    """Loss and logits where a token is, and the gradient of every parameter."""
    expected, out = theirs(**inputs), ours(**inputs)
    mask = inputs["attention_mask"].bool()
    for name in ("loss", "logits", "start_logits", "end_logits"):
        if (wanted := expected.get(name)) is not None:
            found = out[name]
            if wanted.shape[:2] == mask.shape:
                wanted, found = wanted[mask], found[mask]
            torch.testing.assert_close(found, wanted, **tolerance)
    expected.loss.backward(), out.loss.backward()
    grads = {name: parameter.grad for name, parameter in ours.named_parameters()}
    grads = tfkit.registry.load("modernbert").HF.dump(grads, with_head=True)
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(grads.pop(name), parameter.grad, **tolerance, msg=lambda t, n=name: n + t)
    assert not grads


@pytest.mark.parametrize("changes", [{}, BIASES, {"classifier_pooling": "mean"}], ids=["plain", "biases", "mean"])
@pytest.mark.parametrize("head", HEADS)
def test_numbers_and_gradients(parity, head, changes, tmp_path):
    theirs = made(parity, f"For{head}", **{**changes, "num_labels": 2 if head == "QuestionAnswering" else 3})
    close(parity, theirs, parity.read(theirs, tmp_path), given(parity, head))


@pytest.mark.parametrize("changes", [{}, BIASES], ids=["plain", "biases"])
@pytest.mark.parametrize("head", HEADS)
def test_numbers_and_gradients_in_float64(parity, head, changes, tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.models.modernbert.modeling_modernbert.torch", parity.Double())
    theirs = made(parity, f"For{head}", **{**changes, "num_labels": 2 if head == "QuestionAnswering" else 3})
    ours = parity.read(parity.of_float32(theirs), tmp_path)
    theirs = parity.calling_double(theirs.double())
    close(parity, theirs, ours.double(), given(parity, head), {"rtol": 1e-8, "atol": 1e-9})


def test_the_first_real_token_stands_for_a_choice(parity, tmp_path):
    theirs = made(parity, "ForMultipleChoice")
    ours, inputs = parity.read(theirs, tmp_path), given(parity, "MultipleChoice")
    inputs["attention_mask"] = inputs["attention_mask"].flip(-1)
    torch.testing.assert_close(ours(**inputs).logits, theirs(**inputs).logits, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_states_and_sparse_logits_and_scaled_positions(parity, tmp_path):
    rope = {"full_attention": {**SCALED, "rope_theta": 5e4}, "sliding_attention": {"rope_theta": 9e3, **SCALED}}
    kinds = ["sliding_attention", "full_attention"] * 2
    theirs = made(parity, "ForMaskedLM", sparse_prediction=True, rope_parameters=rope, layer_types=kinds)
    ours, inputs = parity.read(theirs, tmp_path), given(parity, "MaskedLM")
    expected, out = theirs(**inputs), ours(**inputs)
    assert out.logits.shape == expected.logits.shape == (int((inputs["labels"] != -100).sum()), 99)
    torch.testing.assert_close(out.logits, expected.logits, rtol=1e-4, atol=1e-5)
    inputs.pop("labels")
    torch.testing.assert_close(
        ours(**inputs).last_hidden_state[:1], theirs.model(**inputs).last_hidden_state[:1], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("changes", [{}, BIASES], ids=["plain", "biases"])
def test_their_library_reads_our_files(parity, changes, tmp_path):
    theirs = made(parity, "ForMaskedLM", **changes)
    parity.assert_same_files(theirs, parity.read(theirs, tmp_path / "theirs"), tmp_path / "ours")


@torch.no_grad()
def test_files_of_4_x_say_the_same_in_other_words(parity, tmp_path):
    theirs = made(parity, "ForMaskedLM")
    ours = parity.read(theirs, tmp_path)
    described = json.loads((tmp_path / "config.json").read_text())
    rope = described.pop("rope_parameters")
    described.pop("layer_types")
    described |= {"global_rope_theta": rope["full_attention"]["rope_theta"], "global_attn_every_n_layers": 3,
                  "local_rope_theta": rope["sliding_attention"]["rope_theta"], "reference_compile": None}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(described))
    ids, mask, _ = parity.ragged()
    assert torch.equal(tfkit.from_pretrained(tmp_path)(ids, mask).logits, ours(ids, mask).logits)


def test_what_there_is_not_is_named():
    with pytest.raises(ValueError, match="pooling is 'max'; it must be 'cls' or 'mean'"):
        tfkit.from_config("modernbert", head="sequence_classification", n_layers=0, vocab_size=9, d_model=4, n_heads=1,
                          pad_token_id=0, pooling="max")  # fmt: skip
