"""Lens, patching, knock-out and attribution, compared with values that follow from arithmetic."""

import pytest
import torch

import tfkit
from tests.models.test_laws import kind, make, ragged, rows
from tfkit.inside import (
    ablate_heads,
    attention_heads,
    block_outputs,
    block_paths,
    input_attribution,
    knock_out,
    logit_contributions,
    logit_lens,
    patch_heads,
    residual_contributions,
)

WORDS = torch.tensor([[3, 9, 4, 7, 11]])
OTHERS = torch.tensor([[3, 9, 12, 7, 11]])


@pytest.fixture(scope="module")
def gpt2():
    torch.manual_seed(0)
    fields = {"vocab_size": 31, "d_model": 24, "n_layers": 3, "n_heads": 4, "max_length": 32}
    model = tfkit.from_config("gpt2", head="causal_lm", **fields).double().eval()
    for parameter in model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter)
    return model


def score(out):
    return out.logits[0, -1, 5] - out.logits[0, -1, 6]


STREAMLESS = {"rnn_seq2seq": "has no stack of blocks", "reformer": "ran none of its blocks"}  # two reversible streams


@pytest.mark.sampled(3)
@rows("editing")
@torch.no_grad()
def test_the_last_lens_is_what_the_model_says(name):
    row, model = make(name)
    ids, mask, _ = ragged(row)
    inputs = row.inputs(model, ids, mask)
    if kind(name) in STREAMLESS:
        with pytest.raises(ValueError, match=STREAMLESS[kind(name)]):
            block_outputs(model, **inputs)
        return
    if model(**inputs).get("logits") is None:
        with pytest.raises(ValueError, match="has no logits: create it with a language-model head"):
            logit_lens(model, **inputs)
        return
    found = logit_lens(model, **inputs)
    logits = model(**inputs).logits
    assert torch.equal(found[-1], logits)
    assert len(found) > 1 and not torch.equal(found[0], logits)


def test_blocks_are_those_of_the_decoder_and_shared_ones_count_each_time():
    _, t5 = make("t5")
    assert block_paths(t5) == ["decoder.0", "decoder.1"]
    row, albert = make("albert")
    blocks, _ = block_outputs(albert, **row.inputs(albert, ragged(row)[0]))
    calls = [(block.path, block.call) for block in blocks]
    assert calls[:4] == [("layers.0.0", 0), ("layers.0.1", 0), ("layers.0.0", 1), ("layers.0.1", 1)]
    assert calls[4:] == [("layers.1.0", 0), ("layers.1.1", 0), ("layers.1.0", 1), ("layers.1.1", 1)]


def test_patching_all_heads_of_the_first_layer_and_nothing_else_brings_back_a_share(gpt2):
    paths, shares = patch_heads(gpt2, {"input_ids": WORDS}, {"input_ids": OTHERS}, score)
    assert paths == [f"layers.{i}.attn" for i in range(3)] and shares.shape == (3, 4)
    values = attention_heads(gpt2, input_ids=WORDS)
    with tfkit.edit(gpt2) as e, torch.no_grad():
        e["layers.1.attn.per_head"] = lambda old: torch.cat(
            [old[:, :2], values["layers.1.attn"][:, 2:3], old[:, 3:]], 1
        )
        patched = score(gpt2(OTHERS))
    best, worst = score(gpt2(WORDS)), score(gpt2(OTHERS))
    torch.testing.assert_close(
        shares[1, 2].double(), ((patched - worst) / (best - worst)).detach(), rtol=1e-5, atol=1e-6
    )


def test_heads_of_a_cross_attention_are_patched_too():
    row, t5 = make("t5")
    ids = ragged(row)[0]
    clean, other = row.inputs(t5, ids), row.inputs(t5, ids.flip(1))
    paths, shares = patch_heads(t5, clean, other, lambda out: out.logits[0, -1, 5])
    assert "decoder.0.cross_attn" in paths and "encoder.1.self_attn" in paths
    assert shares.isfinite().all()


def test_inputs_that_score_alike_are_refused(gpt2):
    with pytest.raises(ValueError, match="patching cannot restore a difference"):
        patch_heads(gpt2, {"input_ids": WORDS}, {"input_ids": WORDS}, score)
    with pytest.raises(ValueError, match=r"layers.0.attn: .* on the clean inputs"):
        patch_heads(gpt2, {"input_ids": WORDS}, {"input_ids": WORDS[:, :4]}, score)


def test_cutting_a_key_that_causality_hides_costs_nothing(gpt2):
    paths, falls = knock_out(gpt2, score, query=2, input_ids=WORDS)
    assert falls.shape == (3, 5) and paths[0] == "layers.0.attn"
    assert (falls[:, 3:].abs() < 1e-9).all() and (falls[:2, :3].abs() > 1e-9).all()
    assert (falls[2].abs() < 1e-9).all()  # what position 2 reads in the last layer comes too late for the last position


def test_contributions_add_up_to_the_states_in_the_direction_of_the_score(gpt2):
    names, shares = residual_contributions(gpt2, score, input_ids=WORDS)
    assert names == ["input", "layers.0", "layers.1", "layers.2"] and shares.shape == (4, 1, 5)
    states = block_outputs(gpt2, input_ids=WORDS)[0][-1].states.detach().requires_grad_()
    logits = gpt2.norm(states) @ gpt2.embed.weight.T
    (slope,) = torch.autograd.grad(logits[0, -1, 5] - logits[0, -1, 6], states)
    torch.testing.assert_close(shares.sum(0), (states * slope).sum(-1).detach())
    assert (shares[..., :-1] == 0).all()  # the score is of the last position alone


def test_integrated_gradients_are_complete(gpt2):
    shares = input_attribution(gpt2, score, WORDS, steps=256)
    with tfkit.edit(gpt2) as e, torch.no_grad():
        e["embed"] = 0.0
        nothing = score(gpt2(WORDS))
    torch.testing.assert_close(shares.sum(), (score(gpt2(WORDS)) - nothing).detach(), rtol=0.02, atol=0.02)


def test_integrated_gradients_of_a_source():
    row, bart = make("bart")
    inputs = row.inputs(bart, ragged(row)[0])
    shares = input_attribution(bart, lambda out: out.logits[0, -1, 5], inputs.pop("input_ids"), steps=4, **inputs)
    assert shares.shape == (3, row.length) and (shares[0] != 0).all() and (shares[1:] == 0).all()


def test_a_silenced_head_costs_what_the_score_falls(gpt2):
    paths, falls = ablate_heads(gpt2, score, input_ids=WORDS)
    assert paths == [f"layers.{i}.attn" for i in range(3)] and falls.shape == (3, 4)
    with tfkit.edit(gpt2) as e, torch.no_grad():
        e["layers.1.attn.per_head"] = lambda old: torch.cat([old[:, :2], 0 * old[:, 2:3], old[:, 3:]], 1)
        silenced = score(gpt2(WORDS))
    torch.testing.assert_close(falls[1, 2].double(), (score(gpt2(WORDS)) - silenced).detach(), rtol=1e-5, atol=1e-6)


PARTS = {
    "gpt2": ["layers.0.attn", "layers.0.ff"],
    "llama": ["layers.0.attn", "layers.0.ff"],
    "t5": ["decoder.0.self_attn", "decoder.0.cross_attn", "decoder.0.ff"],
    "bert": ["layers.0"],  # its norms come last: a block's change is no sum
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_the_stream_add_up_to_the_logits(name):
    row, model = make(name)
    inputs = row.inputs(model, ragged(row)[0][:1])
    inputs = {key: value[:1] for key, value in inputs.items()}
    targets = torch.tensor([5, 6, 2])
    parts, shares = logit_contributions(model, targets, **inputs)
    assert parts[0] == "input" and parts[1 : 1 + len(PARTS[name])] == PARTS[name] and parts[-1] == "rest"
    with torch.no_grad():
        logits = model(**inputs)["logits"][0, -1]
    torch.testing.assert_close(shares.sum(0), logits[targets])
    if name in ("llama", "t5"):  # no bias behind the blocks, and nothing that is not linear
        assert shares[-1].abs().max() < 1e-5


def test_the_norm_is_held_as_it_is(gpt2):
    with tfkit.trace(gpt2) as t, torch.no_grad():
        gpt2(WORDS)
    states = t["layers.2.out"]
    scale = (states.var(-1, unbiased=False, keepdim=True) + gpt2.norm.eps).rsqrt()
    part = t["layers.1.ff.out"]
    added = ((part - part.mean(-1, keepdim=True)) * scale * gpt2.norm.weight @ gpt2.embed.weight.T)[0, -1, 5]
    names, shares = logit_contributions(gpt2, torch.tensor([5]), input_ids=WORDS)
    torch.testing.assert_close(shares[names.index("layers.1.ff"), 0], added)
    with pytest.raises(ValueError, match="2 texts"):
        logit_contributions(gpt2, torch.tensor([5]), input_ids=WORDS.repeat(2, 1))
