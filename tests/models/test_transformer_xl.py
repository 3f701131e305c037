"""Transformer-XL is the published one: what an old transformers gave is in fixtures, with the script that asked it."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import tfkit
from tfkit.nn import StaticCache, attend_by_hand, relative_shift
from tfkit.nn.relative_attention import DistanceContext, RelativeAttention, causal_relative_bias, sinusoidal_distances

FIXTURES = Path(__file__).parent / "fixtures" / "transformer_xl"
CASES = sorted(path.name for path in FIXTURES.iterdir())
SIZES = {"vocab_size": 99, "cutoffs": (20, 50), "d_model": 32, "d_embed": 32, "n_layers": 3, "n_heads": 4, "d_head": 8}
SIZES |= {"d_ff": 48, "mem_len": 5, "div_val": 2}


@pytest.fixture
def case(request, dtype):
    expected = load_file(FIXTURES / request.param / "expected.safetensors")
    return tfkit.from_pretrained(FIXTURES / request.param, dtype=dtype), expected


@pytest.fixture
def small(parity):
    """-> a model of other fields, with random weights"""
    return lambda **more: parity.shake(tfkit.from_config("transformer_xl", head="causal_lm", **SIZES | more))


def assert_same(found, expected):
    close = {torch.float32: {"rtol": 1e-4, "atol": 1e-5}, torch.float64: {"rtol": 1e-9, "atol": 1e-9}}[found.dtype]
    torch.testing.assert_close(found, expected.to(found.dtype), **close)


@pytest.mark.parametrize("case", [name for name in CASES if name != "labels"], indirect=True)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(case):
    ours, expected = case
    mems, total = None, 0.0
    for i, ids in enumerate(expected["ids"].split([7, 4], 1)):
        out = ours(ids, mems=mems)
        scores = out.last_hidden_state if ours.head is None else out.logits
        assert_same(scores, expected[f"scores.{i}"])
        for layer, memory in enumerate(out.get("mems", ())):
            assert_same(memory, expected[f"mems.{layer}.{i}"])
        if ours.head:
            labels = ids.clone()
            labels[1, -1] = -100
            again = ours(ids, mems=mems, labels=labels)
            by_cluster = expected[f"losses.{i}"]
            assert_same(again.losses.flatten().sort()[0], by_cluster.flatten().sort()[0])
            total = total + again.loss
        else:
            total = total + (scores * torch.arange(scores.numel()).view_as(scores).cos()).sum()
        assert_same(total, sum(expected[f"loss.{j}"] for j in range(i + 1)))
        mems = out.get("mems")
    assert_same_gradients(ours, total, expected)


@pytest.mark.parametrize("case", ["labels"], indirect=True)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_labels_of_texts(case):
    ours, expected = case
    out = ours(expected["ids"], labels=torch.tensor([2, 0]))
    assert_same(out.logits, expected["scores.0"])
    assert_same(out.loss, expected["loss.0"])
    assert_same_gradients(ours, out.loss, expected)


def assert_same_gradients(ours, loss, expected):
    loss.backward()
    grads = {name: p.grad for name, p in ours.named_parameters() if p.grad is not None}
    assert len(grads) == len(list(ours.parameters()))
    grads = ours.names.dump(grads, with_head=ours.head is not None)
    wanted = {name.removeprefix("gradient."): t for name, t in expected.items() if name.startswith("gradient.")}
    for bias in ("r_w_bias", "r_r_bias"):  # one for all layers; tfkit has it at the first of them
        if f"transformer.{bias}" in wanted:
            wanted[f"transformer.layers.0.dec_attn.{bias}"] = wanted.pop(f"transformer.{bias}")
    assert grads.keys() == wanted.keys()
    for name, grad in wanted.items():
        close = {torch.float32: (1e-4, 1e-3), torch.float64: (1e-9, 1e-9)}[grads[name].dtype]
        torch.testing.assert_close(grads[name], grad.to(grads[name].dtype), rtol=close[0], atol=close[1], msg=name)


@pytest.mark.parametrize("name", CASES)
def test_files_both_ways(name, tmp_path):
    """What we write has all that transformers wrote, but copies; and we read it again."""
    ours = tfkit.from_pretrained(FIXTURES / name)
    ours.save_pretrained(tmp_path)
    theirs = torch.load(FIXTURES / name / "pytorch_model.bin", weights_only=True)
    written = load_file(tmp_path / "model.safetensors")
    copies = {key for key in theirs.keys() - written.keys() if key.removeprefix("transformer.") != "pos_emb.inv_freq"}
    assert all(key in ours.names.tied or key.endswith(("r_w_bias", "r_r_bias")) for key in copies)
    assert all(torch.equal(tensor, theirs[key]) for key, tensor in written.items())
    config, before = (json.loads((path / "config.json").read_text()) for path in (tmp_path, FIXTURES / name))
    assert {key: before[key] for key in before.keys() & config.keys() - {"id2label"}}.items() <= config.items()
    again = tfkit.from_pretrained(tmp_path)
    assert all(torch.equal(tensor, again.state_dict()[key]) for key, tensor in ours.state_dict().items())


@pytest.mark.parametrize("name", ["lm", "lm_same_length", "lm_odd"])
@torch.no_grad()
def test_greedy_ids(name):
    """transformers decodes with a memory of states; tfkit with keys and values, and distances projected once."""
    ours, expected = tfkit.from_pretrained(FIXTURES / name), load_file(FIXTURES / name / "expected.safetensors")
    ids, cache = expected["greedy"][:, :9], None
    new = ids
    for _ in range(14):
        out = ours(new, cache=cache, use_cache=True)
        cache, new = out.cache, out.logits[:, -1:].argmax(-1)
        ids = torch.cat([ids, new], 1)
    assert torch.equal(ids, expected["greedy"])
    assert ids[:, 9:].unique().numel() > 1


@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("mem_len", [5, 40])
def test_cache_equals_no_cache(parity, small, pre_norm, mem_len):
    """Where all see equally far, what is cached is what would be computed again."""
    parity.assert_same_with_cache(small(mem_len=mem_len, same_length=True, pre_norm=pre_norm))


@torch.no_grad()
def test_cache_is_the_memory(parity, small):
    """A token at a time through a cache, and through the memory of the states."""
    ours, (ids, _, _) = small(same_length=False, clamp_len=3), parity.ragged()
    cache = mems = None
    for new in ids.split(1, 1):
        cached, out = ours(new, cache=cache, use_cache=True), ours(new, mems=mems)
        cache, mems = cached.cache, out.mems
        torch.testing.assert_close(cached.logits, out.logits, rtol=1e-4, atol=1e-5)


def test_whole_text_where_there_is_no_memory(parity, small):
    parity.assert_same_with_cache(small(mem_len=0, same_length=False))


def test_padding_and_future_change_nothing(parity, small):
    parity.assert_padding_and_future_change_nothing(small(same_length=False))


@pytest.mark.parametrize("pre_norm", [False, True])
@torch.no_grad()
def test_padding_on_the_left_changes_nothing(parity, small, pre_norm):
    """It counts as memory before the text: alone, and decoding on from there."""
    ours, (ids, _, _) = small(same_length=False, pre_norm=pre_norm), parity.ragged()
    mask = torch.ones_like(ids)
    mask[1, :4] = 0
    padded, alone = ours(ids, mask, use_cache=True), ours(ids[1:2, 4:], use_cache=True)
    torch.testing.assert_close(padded.logits[1:2, 4:], alone.logits, rtol=1e-4, atol=1e-5)
    mask = torch.cat([mask, mask[:, -1:]], 1)
    padded, alone = ours(ids[:, :1], mask, cache=padded.cache), ours(ids[1:2, :1], cache=alone.cache)
    torch.testing.assert_close(padded.logits[1:2], alone.logits, rtol=1e-4, atol=1e-5)


def test_bfloat16_is_finite(small):
    ids = torch.arange(24).view(2, 12)
    ours = small().to(torch.bfloat16)
    out = ours(ids, mems=ours(ids).mems)
    assert out.logits.isfinite().all()
    assert ours(ids, labels=ids).loss.isfinite()


def test_log_probabilities_sum_to_one(small):
    out = small()(torch.arange(12)[None])
    torch.testing.assert_close(out.logits.exp().sum(-1), torch.ones(1, 12))


def test_what_does_not_fit(small):
    ours = small()
    ids = torch.arange(12).view(2, 6)
    with pytest.raises(ValueError, match="input_ids holds 99, outside its table: ids go from 0 to 98"):
        ours(ids + 88)
    with pytest.raises(ValueError, match="input_ids holds -1, outside its table"):
        ours(ids - 1)
    with pytest.raises(ValueError, match=r"mems must be 3 tensors \[M,1,32\]; got \[5, 2, 32\]"):
        ours(ids[:1], mems=ours(ids).mems)
    with pytest.raises(ValueError, match="got 2 tensors"):
        ours(ids, mems=ours(ids).mems[:2])
    with pytest.raises(ValueError, match="a cache replaces the memory"):
        ours(ids, mems=ours(ids).mems, cache=StaticCache(8))
    with pytest.raises(TypeError, match="attention_mask is torch.float32"):
        ours(ids, torch.ones(2, 6))


def test_tied_copies_that_differ_are_refused(tmp_path):
    shutil.copytree(FIXTURES / "lm", tmp_path / "lm")
    weights = torch.load(tmp_path / "lm" / "pytorch_model.bin", weights_only=True)
    weights["crit.out_layers.1.weight"] = weights["crit.out_layers.1.weight"] + 1
    torch.save(weights, tmp_path / "lm" / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"crit.out_layers.1.weight differs from word_emb.emb_layers.1.weight"):
        tfkit.from_pretrained(tmp_path / "lm")


@pytest.mark.parametrize("queries", [1, 4, 7])
def test_attention_is_what_the_paper_writes(queries):
    """The skewed view and the fused kernel, against the shift with copies and every step by hand."""
    torch.manual_seed(0)
    attn, batch, keys = RelativeAttention(16, 2).double(), 3, 7
    torch.nn.init.normal_(attn.content_bias), torch.nn.init.normal_(attn.position_bias)
    source = torch.randn(batch, keys, 16, dtype=torch.float64)
    position_encodings = sinusoidal_distances(torch.arange(keys - 1, -2, -1), 16, source)
    causal_bias = causal_relative_bias(queries, keys, keys, source).repeat(batch, 1)[None]
    q, k, v, r = (
        proj(x).unflatten(-1, (2, 8)).transpose(-3, -2)
        for proj, x in zip(
            (attn.q_proj, attn.k_proj, attn.v_proj, attn.r_proj),
            (source[:, -queries:], source, source, position_encodings[:-1]),
            strict=True,
        )
    )
    far = relative_shift((q + attn.position_bias[:, None]) @ r.transpose(-1, -2)) * attn.scale
    by_hand, _, _ = attend_by_hand(q + attn.content_bias[:, None], k, v, bias=far, causal=True)
    expected = attn.o_proj(by_hand.transpose(1, 2).flatten(2))
    torch.testing.assert_close(attn(source, queries, DistanceContext(position_encodings, causal_bias)), expected)


@torch.no_grad()
def test_an_old_field_that_transformers_4_does_not_read(tmp_path):
    """Its tie_weights() asks tie_word_embeddings; so a file that says otherwise under the old name is tied all the
    same."""
    shutil.copytree(FIXTURES / "lm", tmp_path / "lm")
    file = tmp_path / "lm" / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "tie_weight": False}))
    expected = load_file(FIXTURES / "lm" / "expected.safetensors")
    ours = tfkit.from_pretrained(tmp_path / "lm", dtype=torch.float64)
    assert_same(ours(expected["ids"].split([7, 4], 1)[0]).logits, expected["scores.0"])
