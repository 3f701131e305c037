"""Sparse attention is put back where it belongs: its weights give the layer's own output, its kinds are the paper's."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
import torch

import tfkit
from tfkit import tracing
from tfkit.nn import merge_heads, split_heads
from tfkit.nn.block_sparse import draw_random_blocks
from tfkit.nn.lsh import lsh_attention
from tfkit.nn.sliding_window import local_global_mask
from tfkit.objectives.permutation_lm import permutation_masks
from tfkit_lab import show
from tfkit_lab.show.attention import shares
from tfkit_lab.show.patterns import KEEP, layers
from tfkit_lab.trace import inflate, validate, weights

GOLDEN = Path(__file__).parent / "golden" / "patterns"

SMALL = {"vocab_size": 30, "d_model": 16, "n_heads": 2, "dropout": 0.0}
BERT = {**SMALL, "d_ff": 32, "n_layers": 2, "attn_dropout": 0.0}
WINDOW = {**BERT, "window": 4, "max_length": 64}
BLOCKS = {**BERT, "block": 2, "n_random": 1, "max_length": 128}
HASHED = {
    "vocab_size": 30, "d_model": 16, "d_head": 8, "n_heads": 2, "d_ff": 32, "layers": ("local", "lsh"), "axial": False,
    "max_length": 64, "local_chunk": 4, "lsh_chunk": 4, "n_buckets": 4, "hash_seed": 1, "dropout": 0.0,
    "local_dropout": 0.0, "head_dropout": 0.0,
}  # fmt: skip


def ids(length):
    return torch.arange(length)[None] % 29 + 1


def made(name, head=None, **fields):
    torch.manual_seed(0)
    model = tfkit.from_config(name, head=head, **fields).eval()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)  # fresh weights look everywhere alike
    return model


def watched(model, length):
    """(layer, what its attention gave, its values) of one forward."""
    given = {}
    attentions = {name: module for name, module in model.named_modules() if hasattr(module, "v_proj")}
    hooks = [a.register_forward_pre_hook(lambda m, args: given.update({m: args[0]})) for a in attentions.values()]
    with torch.no_grad(), tracing.trace(model, keep=(*KEEP, "*.out")) as seen:
        model(input_ids=ids(length))
    [hook.remove() for hook in hooks]
    for layer in layers(model, seen, length):
        module = attentions[layer.name]
        values = split_heads(module.v_proj(given[module]), module.n_heads)[:, :, : layer.weights.size(-1)]
        yield module, layer, seen[f"{layer.name}.out"][0], merge_heads(layer.weights[None] @ values)[0]


@pytest.mark.parametrize(
    "name, fields, length, training",
    [
        ("longformer", WINDOW, 11, False),
        ("bigbird", BLOCKS, 23, False),
        ("bigbird", BLOCKS, 24, True),
        ("reformer", {**HASHED, "is_decoder": True}, 16, False),
        ("reformer", {**HASHED, "is_decoder": False, "lsh_after": 1, "n_hashes": 3}, 15, False),
    ],
)
def test_the_weights_of_a_sparse_attention_give_its_output(name, fields, length, training):
    for module, layer, out, attended in watched(made(name, **fields).train(training), length):
        assert layer.weights.shape == layer.kinds.shape == (2, length, length)
        torch.testing.assert_close(module.o_proj(attended), out[:length], rtol=1e-4, atol=1e-5)
        assert not layer.weights[layer.kinds == 0].any()


def kinds_of(maps):
    shape = [maps[key] for key in ("layers", "heads", "rows", "cols")]
    flat = inflate(maps["kinds"]["data"], torch.Size(shape).numel(), "kinds")
    return torch.tensor(list(flat)).view(shape), maps["kinds"]["names"]


def test_a_longformer_sees_its_window_and_what_is_global():
    marked = torch.zeros(1, 11, dtype=torch.int64)
    marked[0, [0, 7]] = 1
    picture = show.attention(made("longformer", **WINDOW), input_ids=ids(11), global_attention_mask=marked)
    maps = picture.trace["maps"][0]
    found, names = kinds_of(maps)
    assert names == ["hidden", "window", "global"]
    assert (found > 0).equal(local_global_mask(11, 4, [0, 7]).expand_as(found))
    chosen = marked[0].bool()
    assert (found == 2).equal((chosen | chosen[:, None]).expand_as(found))
    rows = torch.tensor([list(row) for row in weights(maps, 1, 1)]) / 255
    assert (rows.sum(-1) - 1).abs().max() < 0.03


def test_a_bigbird_draws_its_random_blocks_in_training():
    model = made("bigbird", **BLOCKS)
    maps = show.attention(model, input_ids=ids(24), training=True).trace["maps"][0]
    found, names = kinds_of(maps)
    assert names == ["hidden", "window", "global", "random"] and not model.training
    drawn = draw_random_blocks(1, 2, 12, 1)  # [H,N-2,1]; the second layer's
    for head in range(2):
        wanted = torch.zeros(12, 12, dtype=torch.bool)
        wanted[torch.arange(1, 11), drawn[head, :, 0]] = True
        assert (found[1, head] == 3).equal(wanted.repeat_interleave(2, 0).repeat_interleave(2, 1))
    assert (found[:, :, :2] == 2).all() and (found[:, :, -2:] == 2).all() and (found[..., :2] == 2).all()


def test_a_pooled_square_has_the_kind_of_its_strongest_key():
    model = made("reformer", "causal_lm", **HASHED)
    fine = show.attention(model, input_ids=ids(16)).trace["maps"][0]
    picture = show.attention(model, input_ids=ids(16), budget=800)
    coarse = picture.trace["maps"][0]
    by = coarse["pooled"]["by"]
    assert by > 1 and len(json.dumps([coarse])) <= 800 and "order" in fine and "order" not in coarse
    assert "share of the attention" not in picture.figure() and f"{by} × {by} weights" in picture.figure()
    (kinds, _), (small, _) = kinds_of(fine), kinds_of(coarse)
    for layer, head in itertools.product(range(fine["layers"]), range(fine["heads"])):
        strong, blocks = (torch.tensor(rectangle(m, layer, head)) for m in (fine, coarse))
        for r, c in itertools.product(range(coarse["rows"]), range(coarse["cols"])):
            here = slice(r * by, r * by + by), slice(c * by, c * by + by)
            assert blocks[r, c] == strong[here].max()
            assert small[layer, head, r, c] in kinds[layer, head][here][strong[here] == blocks[r, c]]


def rectangle(maps, layer, head):
    return [list(row.ljust(maps["cols"], b"\0")) for row in weights(maps, layer, head)]


def test_a_reformer_sees_its_bucket_and_its_chunk():
    maps = show.attention(made("reformer", "causal_lm", **HASHED), input_ids=ids(16)).trace["maps"][0]
    found, names = kinds_of(maps)
    assert names == ["hidden", "window", "chunk", "bucket"] and maps["order"]["of"][0] is None
    assert not found.triu(1).any()
    for head, buckets in enumerate(torch.tensor(maps["order"]["of"][1])):
        same = buckets[:, None] == buckets
        assert not (found[1, head] == 2)[same].any() and not (found[1, head] == 3)[~same].any()
    apart = lsh_attention(torch.randn(1, 3, 4), torch.eye(3)[None], torch.tensor([[0, 1, 0]]))
    assert apart[0, 2, 1] == 0  # which is what one bucket a chunk would leave


def test_a_memory_is_told_from_the_text():
    small = {**SMALL, "d_embed": 16, "d_head": 8, "d_ff": 32, "n_layers": 2, "cutoffs": (), "mem_len": 5}
    model = made("transformer_xl", "causal_lm", **small)
    mems = model(input_ids=ids(5)).mems
    trace = show.attention(model, input_ids=ids(4), mems=mems, tokens=list("abcd")).trace
    found, names = kinds_of(trace["maps"][0])
    assert names == ["hidden", "text", "memory"]
    assert trace["keys"] == [*(f"memory {i}" for i in range(-5, 0)), *"abcd"]
    assert set(found[..., :5].unique().tolist()) == {0, 2}  # same_length: what is too far back is hidden
    assert (found[..., 5:] == torch.ones(4, 4).tril()).all()
    told = dict(shares(trace["maps"][0], 0, 1, weights(trace["maps"][0], 0, 1)))
    rows = torch.tensor([list(row) for row in weights(trace["maps"][0], 0, 1)]).double()
    assert told["memory"] == pytest.approx((rows[:, :5].sum() / rows.sum()).item())


def test_two_streams_follow_the_order():
    small = {**SMALL, "d_ff": 32, "n_layers": 2}
    order, model = [3, 0, 4, 1, 2], made("xlnet", "masked_lm", **small)
    maps = show.two_streams(model, input_ids=ids(5), order=order, tokens=list("abcde")).trace["maps"][0]
    assert maps["names"] == ["layers.0.attn, content", "layers.0.attn, query", "layers.1.attn, query"]
    content, query = permutation_masks(torch.tensor(order))
    found, _ = kinds_of(maps)
    assert found[0].bool().equal(content.expand(2, -1, -1))
    assert found[1].bool().equal(query.expand(2, -1, -1)) and found[1].equal(found[2])
    turn = torch.tensor(maps["order"]["of"][0][0])
    assert turn[torch.tensor(order)].tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="each position from 0 to 4 once"):
        show.two_streams(model, input_ids=ids(5), order=[0, 1, 1, 3, 4])


def test_a_stream_that_predicts_few_words_looks_from_these_alone():
    model = made("xlnet", "masked_lm", **{**SMALL, "d_ff": 32, "n_layers": 1})
    perm = torch.zeros(1, 4, 4)
    perm[:, :, 2] = 1
    maps = show.attention(model, input_ids=ids(4), perm_mask=perm, target_mapping=torch.eye(4)[None, 2:3]).trace["maps"]
    rows = torch.tensor([list(row) for row in weights(maps[0], 0, 0)])
    assert maps[0]["names"] == ["layers.0.attn, query"] and rows.any(-1).tolist() == [False, False, True, False]


WORDS = ["the", "black", "cat", "sat", "on", "the", "small", "mat", "and", "the", "dog", "ran", "to", "it", "all", "."]
PATTERNS = {
    "reformer": lambda: show.attention(
        made("reformer", "causal_lm", **HASHED), input_ids=ids(16), tokens=WORDS, title="buckets and chunks"
    ),
    "xlnet": lambda: show.two_streams(
        made("xlnet", "masked_lm", **SMALL, d_ff=32, n_layers=2),
        input_ids=ids(5), order=[3, 0, 4, 1, 2], tokens=WORDS[:5], title="two streams",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PATTERNS)
def test_golden(name):
    """What the front end is tested with; `python -m tests.extension.test_patterns` writes it anew."""
    golden = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    validate(golden)
    fresh = PATTERNS[name]().trace
    for one, other in zip(fresh["maps"], golden["maps"], strict=True):
        assert set(one) == set(other) and one["names"] == other["names"] and one["order"] == other["order"]
        assert kinds_of(one)[0].equal(kinds_of(other)[0])
    assert "share of the attention" in PATTERNS[name]().figure()


def test_one_sentence_is_shown():
    with pytest.raises(ValueError, match=r"input_ids has shape \[2, 11\]"):
        show.attention(made("longformer", **WINDOW), input_ids=ids(11).expand(2, -1))


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, make in PATTERNS.items():
        text = json.dumps(make().trace, ensure_ascii=False)
        (GOLDEN / f"{name}.json").write_text(text + "\n", encoding="utf-8")
