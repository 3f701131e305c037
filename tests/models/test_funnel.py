"""Funnel-Transformer is the published one, in both forms and with every head."""

import json

import pytest
import torch
import torch.nn.functional as F

import tfkit
from tfkit.models import funnel

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 61, "d_model": 24, "n_head": 3, "d_head": 6, "d_inner": 40, "block_sizes": [2, 1, 2]}
SIZES |= {"num_decoder_layers": 2, "id2label": {0: "a", 1: "b", 2: "c"}}
HEADS = {head: name for name, head in funnel.HF_HEADS.items()}
ODD = {
    "factorized": {"attention_type": "factorized"},
    "all-pooled-max": {"pool_q_only": False, "pooling_type": "max", "hidden_act": "relu"},
    "nothing-apart": {"separate_cls": False, "pad_token_id": 0, "block_repeats": [2, 1, 2]},
    "untruncated": {"truncate_seq": False, "attention_type": "factorized", "pool_q_only": False},
    "nothing-apart-pooled": {"separate_cls": False, "pool_q_only": False, "block_sizes": [1, 1]},
}
PARTS = "transformers.models.funnel.modeling_funnel."


@pytest.fixture
def exact(monkeypatch):
    """Their scores pass through float32; the softmax at its end is given them as they were."""

    def forward(self, query, key, value, attention_inputs, output_attentions=False):
        places, types, mask, cls_mask = attention_inputs
        heads = (*query.shape[:2], self.config.n_head, self.config.d_head)
        q = self.q_head(query).view(heads) * self.scale
        k, v = (proj(x).view(len(x), -1, *heads[2:]) for proj, x in ((self.k_head, key), (self.v_head, value)))
        scores = torch.einsum("bind,bjnd->bnij", q + self.r_w_bias * self.scale, k)
        scores = scores + self.relative_positional_attention(places, q, k.size(1), cls_mask)
        scores = scores + self.relative_token_type_attention(types, q, cls_mask) - 1e6 * (1 - mask[:, None, None])
        out = torch.einsum("bnij,bjnd->bind", scores.softmax(-1), v).flatten(2)
        return (self.layer_norm(query + self.post_proj(out)),)

    monkeypatch.setattr(PARTS + "FunnelRelMultiheadAttention.forward", forward)


def pair(parity, head, directory, **more):
    sizes = {**SIZES, **more}
    if head == "question_answering":
        del sizes["id2label"]
    theirs = parity.shake(getattr(hf, HEADS[head])(hf.FunnelConfig(**sizes)))
    return theirs, parity.read(theirs, directory)


def batch(head, length=13, types=True):
    draw = torch.Generator().manual_seed(1)
    shape = (3, 2, length) if head == "multiple_choice" else (3, length)
    real = torch.arange(length) < torch.tensor([length, length - 6, length - 3]).view(3, *[1] * (len(shape) - 1))
    real = real.expand(shape)
    ids = torch.randint(3, 61, shape, generator=draw).masked_fill(~real, 0)
    words = torch.randint(0, 61, shape, generator=draw).masked_fill(~real, -100)
    classes = torch.tensor([1, 0, 1])
    targets = {
        "masked_lm": {"labels": words},
        "replaced_token": {"labels": words.clamp(min=0) % 2},
        "sequence_classification": {"labels": classes + 1},
        "token_classification": {"labels": (words % 3).masked_fill(~real, -100)},
        "question_answering": {"start_positions": classes, "end_positions": torch.tensor([4, 99, 7])},
        "multiple_choice": {"labels": classes},
    }
    kinds = (ids % 2).masked_fill(torch.arange(length) == 0, 2)
    given = {"input_ids": ids, "attention_mask": real.long(), **({"token_type_ids": kinds} if types else {})}
    return given | targets.get(head, {})


class InFull:
    """Their model; the loss of the discriminator is taken again from its logits, without float32."""

    def __init__(self, model):
        self.model = model

    def __getattr__(self, name):
        found = getattr(self.model, name)
        return (lambda: (found(), self)[1]) if name in ("double", "float") else found

    def __call__(self, **given):
        out = dict(self.model(**given))
        if "labels" in given and out["logits"].shape == given["labels"].shape:
            real = given["attention_mask"] == 1
            labels = given["labels"][real].to(out["logits"].dtype)
            out["loss"] = F.binary_cross_entropy_with_logits(out["logits"][real], labels)
        return out


@pytest.mark.parametrize("head", list(HEADS), ids=str)
@pytest.mark.parametrize("types", [True, False], ids=["types", "one-type"])
def test_numbers_gradients_and_files(parity, exact, head, types, tmp_path):
    theirs, ours = pair(parity, head, tmp_path)
    theirs = InFull(theirs) if head == "replaced_token" else theirs
    parity.assert_same_fields_and_gradients("funnel", theirs, ours, batch(head, types=types))
    ours.save_pretrained(tmp_path / "ours")
    again = getattr(hf, HEADS[head]).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key
    assert json.loads((tmp_path / "ours" / "config.json").read_text())["block_sizes"] == SIZES["block_sizes"]


@pytest.mark.parametrize("name", list(ODD))
@pytest.mark.parametrize("types", [True, False], ids=["types", "one-type"])
@pytest.mark.parametrize("length", [12, 150])
def test_unusual_configurations(parity, exact, name, types, length, tmp_path):
    theirs, ours = pair(parity, "masked_lm", tmp_path, **ODD[name])
    parity.assert_same_fields_and_gradients("funnel", theirs, ours, batch("masked_lm", length, types))


@torch.no_grad()
def test_without_a_patch_and_without_a_mask(parity, tmp_path):
    theirs, ours = pair(parity, None, tmp_path)
    ids = batch(None)["input_ids"][:1]
    torch.testing.assert_close(ours(ids).last_hidden_state, theirs(ids).last_hidden_state, rtol=1e-4, atol=1e-5)
    given = batch(None)
    states = ours(**given).last_hidden_state
    turned = ours(**{name: x.flip(0) for name, x in given.items()}).last_hidden_state
    torch.testing.assert_close(turned.flip(0), states)


def test_each_block_is_half_as_long(parity, tmp_path):
    _, ours = pair(parity, "base", tmp_path)
    for length, left in ((16, 4), (13, 4), (5, 2), (2, 2), (1, 1)):
        out = ours(torch.full((1, length), 5)).last_hidden_state
        assert out.shape == (1, left, 24)
        assert out.isfinite().all()


def test_bfloat16_is_finite_and_dropout_drops(parity, tmp_path):
    _, ours = pair(parity, "masked_lm", tmp_path)
    out = ours.to(torch.bfloat16)(**batch("masked_lm"))
    assert out.logits.dtype == torch.bfloat16
    assert out.loss.isfinite()
    ours.float().train()
    assert ours(**batch("masked_lm")).loss != ours(**batch("masked_lm")).loss


COUNTS = {
    "funnel-transformer/small": (130_973_184, 115_611_648),
    "funnel-transformer/medium": (130_973_184, 115_611_648),
    "funnel-transformer/intermediate": (177_057_792, 161_696_256),
    "funnel-transformer/large": (386_127_872, 358_830_080),
    "funnel-transformer/xlarge": (468_021_248, 440_723_456),
}


@pytest.mark.parametrize("preset", list(COUNTS))
def test_published_sizes(parity, preset):
    assert (parity.count(preset, None), parity.count(preset, "base")) == COUNTS[preset]


IDS = torch.tensor([[3, 4]])
BAD = {
    "input_ids holds 20, outside its table": {"input_ids": IDS + 16},
    "attention_mask is torch.float32": {"input_ids": IDS, "attention_mask": IDS.float()},
    "position_ids were passed, but this model has only relative positions": {"input_ids": IDS, "position_ids": IDS},
    r"token_type_ids has shape \[1, 1\]": {"input_ids": IDS, "token_type_ids": IDS[:, 1:]},
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    sizes = {"vocab_size": 20, "d_model": 8, "block_sizes": [1, 1], "n_heads": 2, "d_head": 4, "d_ff": 8}
    with pytest.raises((ValueError, TypeError), match=message):
        tfkit.from_config("funnel", **sizes)(**BAD[message])
    with pytest.raises(ValueError, match="pooling_type is 'min'; it must be mean or max"):
        tfkit.from_config("funnel", **sizes, pooling_type="min")
    with pytest.raises(ValueError, match="block_repeats has 1 numbers, block_sizes has 2"):
        tfkit.from_config("funnel", **sizes, block_repeats=[1])
