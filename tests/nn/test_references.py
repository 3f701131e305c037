"""The exercises' reference solutions, against torch's own modules and against what defines them."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tfkit import nn as ours
from tfkit.nn import recurrent

DTYPES = [torch.float64, torch.float32, torch.bfloat16]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def test_rnn_is_torchs():
    rnn = nn.RNN(3, 4, batch_first=True).double()
    x = torch.randn(2, 5, 3, dtype=torch.float64)
    weights = rnn.weight_ih_l0.T, rnn.weight_hh_l0.T, rnn.bias_ih_l0 + rnn.bias_hh_l0
    torch.testing.assert_close(ours.rnn_encode(x, *weights), rnn(x)[0])


def test_attend_finds_the_matching_state():
    keys = torch.eye(4, dtype=torch.float64)[None].repeat(2, 1, 1) * 50
    mask = torch.tensor([[True, True, True, False], [False] * 4])
    query = keys[:, 2] + keys[:, 3]
    context, weights = recurrent.attend(query, keys, mask)
    torch.testing.assert_close(weights[0], torch.tensor([0.0, 0, 1, 0], dtype=torch.float64))
    torch.testing.assert_close(context[0], keys[0, 2])
    assert (weights[1] == 0).all()
    assert (context[1] == 0).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scaled_dot_product_is_sdpa(dtype):
    q, k, v = (torch.randn(2, 3, length, 8).to(dtype).requires_grad_() for length in (4, 6, 6))
    mask = torch.rand(2, 1, 4, 6) > 0.5
    mask[1, 0, 2] = False
    out, weights = ours.scaled_dot_product_attention(q, k, v, mask)
    tolerance = {"rtol": 3e-2, "atol": 3e-2} if dtype == torch.bfloat16 else {}
    torch.testing.assert_close(out, F.scaled_dot_product_attention(q, k, v, mask), **tolerance)
    assert weights.dtype == out.dtype == dtype
    out.sum().backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v))


def test_masks():
    ids = torch.tensor([[5, 0, 7], [0, 0, 0]])
    assert ours.causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert ours.padding_mask(ids, 0).shape == (2, 1, 1, 3)
    assert ours.decoder_mask(ids, 0)[0, 0].tolist() == [[True, False, False], [True, False, False], [True, False, True]]
    assert not ours.decoder_mask(ids, 0)[1].any()


def test_a_prefix_between_an_encoder_and_a_decoder():
    masks = ours.prefix_lm_mask(torch.tensor([0, 2, 4]), 4)
    assert masks.shape == (3, 1, 4, 4) and masks.dtype == torch.bool
    assert torch.equal(masks[0, 0], ours.causal_mask(4)) and masks[2].all()
    assert masks[1, 0].int().tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


def test_masked_softmax_of_nothing():
    scores = torch.tensor([[1e4, -1e4, 0.0], [1.0, 2.0, 3.0]], requires_grad=True)
    weights = ours.masked_softmax(scores, torch.tensor([[True, True, False], [False, False, False]]))
    assert weights.tolist() == [[1, 0, 0], [0, 0, 0]]
    weights.pow(2).sum().backward()
    assert scores.grad.isfinite().all()


def test_heads_are_slices():
    x = torch.randn(2, 5, 12)
    heads = ours.split_heads(x, 3)
    assert torch.equal(heads[:, 1], x[..., 4:8])
    assert torch.equal(ours.merge_heads(heads), x)


def load_torch_attention(mine, theirs):
    for name, weight, bias in zip("qkv", theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True):
        getattr(mine, f"{name}_proj").weight.data, getattr(mine, f"{name}_proj").bias.data = weight, bias
    mine.o_proj.load_state_dict(theirs.out_proj.state_dict())


def load_torch_layer(mine, theirs):
    load_torch_attention(mine.self_attn, theirs.self_attn)
    if hasattr(mine, "cross_attn"):
        load_torch_attention(mine.cross_attn, theirs.multihead_attn)
    mine.ff.up.load_state_dict(theirs.linear1.state_dict())
    mine.ff.down.load_state_dict(theirs.linear2.state_dict())
    for name in ("norm1", "norm2", "norm3"):
        if hasattr(mine, name):
            getattr(mine, name).load_state_dict(getattr(theirs, name).state_dict())
    return mine


def test_encoder_layer_is_torchs():
    theirs = nn.TransformerEncoderLayer(16, 4, 32, 0.0, batch_first=True).double()
    mine = load_torch_layer(ours.EncoderLayer(16, 4, 32).double(), theirs)
    x, real = torch.randn(2, 5, 16, dtype=torch.float64), torch.rand(2, 5) > 0.3
    real[:, 0] = True
    expected = theirs(x, src_key_padding_mask=~real)
    torch.testing.assert_close(mine(x, real[:, None, None]), expected)


def test_decoder_layer_is_torchs():
    theirs = nn.TransformerDecoderLayer(16, 4, 32, 0.0, batch_first=True).double()
    mine = load_torch_layer(ours.DecoderLayer(16, 4, 32).double(), theirs)
    x, memory = torch.randn(2, 5, 16, dtype=torch.float64), torch.randn(2, 7, 16, dtype=torch.float64)
    causal = ours.causal_mask(5)
    torch.testing.assert_close(mine(x, memory, causal), theirs(x, memory, tgt_mask=~causal))


def test_sinusoids():
    table = ours.sinusoidal_positions(50, 8)
    assert table.dtype == torch.float32
    for position, column in [(0, 0), (3, 0), (49, 7), (17, 4)]:
        wave = math.sin if column % 2 == 0 else math.cos
        angle = position / 10000 ** (column // 2 * 2 / 8)
        assert table[position, column].item() == pytest.approx(wave(angle), abs=1e-6)


def test_rotation_sees_distance_only():
    q, k = torch.randn(2, 1, 8, dtype=torch.float64), torch.randn(2, 1, 8, dtype=torch.float64)
    at = lambda i, j: ours.apply_rotary(q, torch.tensor([i])) @ ours.apply_rotary(k, torch.tensor([j])).mT
    torch.testing.assert_close(at(3, 1), at(103, 101))
    assert not torch.allclose(at(3, 1), at(3, 2))
    assert ours.apply_rotary(q.bfloat16(), torch.tensor([4000])).dtype == torch.bfloat16


@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_are_t5s(bidirectional):
    t5 = pytest.importorskip("transformers.models.t5.modeling_t5")
    distance = torch.arange(-300, 301).reshape(1, -1)
    theirs = t5.T5Attention._relative_position_bucket(distance, bidirectional, 32, 128)
    assert torch.equal(ours.relative_bucket(distance, bidirectional, 32, 128), theirs)


@pytest.mark.parametrize(("q", "r"), [(4, 4), (3, 5), (1, 3)])
def test_shift(q, r):
    scores = torch.randn(2, 3, q, r)
    shifted = ours.relative_shift(scores)
    for i in range(q):
        kept = r - (q - 1 - i)
        assert torch.equal(shifted[:, :, i, :kept], scores[:, :, i, r - kept :])


def test_axial():
    e1, e2 = torch.randn(3, 2), torch.randn(4, 5)
    table = ours.axial_positions(e1, e2)
    assert torch.equal(table[7], torch.cat([e1[7 % 3], e2[7 // 3]]))
    assert table.shape == (12, 7)


def test_shift_right():
    assert ours.shift_right(torch.tensor([[4, 5, 6]]), 1).tolist() == [[1, 4, 5]]


def test_cached_attention_is_uncached():
    attention = ours.CachedSelfAttention(12, 3).double()
    full = ours.MultiHeadAttention(12, 3).double()
    full.load_state_dict(attention.state_dict())
    x = torch.randn(2, 6, 12, dtype=torch.float64)
    expected, _ = full(x, x, x, ours.causal_mask(6))
    first, cache = attention(x[:, :2])
    middle, later = attention(x[:, 2:5], cache)
    last, _ = attention(x[:, 5:], later)
    torch.testing.assert_close(torch.cat([first, middle, last], 1), expected)
    torch.testing.assert_close(attention(x[:, 2:5], cache)[0], middle)  # the cache passed in is still usable


def test_seq2seq_hides_padding_and_future():
    model = ours.Seq2SeqTransformer(11, 13, 16, 4, 32, 2, pad_id=0).double()
    src, tgt = torch.randint(1, 11, (2, 5)), torch.randint(1, 13, (2, 6))
    logits = model(src, tgt)
    padded = torch.cat([src, torch.zeros(2, 3, dtype=torch.long)], 1)
    torch.testing.assert_close(model(padded, tgt), logits)
    other = tgt.clone()
    other[:, 4:] = 1 + (other[:, 4:] % 12)
    torch.testing.assert_close(model(src, other)[:, :4], logits[:, :4])
    assert not torch.allclose(model(src, other)[:, 4:], logits[:, 4:])
    model(src * 0, tgt).sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())
