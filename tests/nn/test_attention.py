"""The models' attention equals the attention by hand, with and without a cache."""

import pytest
import torch

from tfkit.nn import Attention, Cache, MultiHeadAttention, StaticCache, causal_mask


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def test_is_multi_head_attention():
    mine, by_hand = Attention(12, 3).double(), MultiHeadAttention(12, 3).double()
    mine.load_state_dict(by_hand.state_dict())
    x, memory = torch.randn(2, 4, 12, dtype=torch.float64), torch.randn(2, 6, 12, dtype=torch.float64)
    mask = torch.rand(2, 1, 4, 6) > 0.5
    torch.testing.assert_close(mine(x, memory, mask=mask), by_hand(x, memory, memory, mask)[0])
    mine.causal = True
    torch.testing.assert_close(mine(x), by_hand(x, x, x, causal_mask(4))[0])


@pytest.mark.parametrize("make", [Cache, lambda: StaticCache(40)], ids=["growing", "static"])
@pytest.mark.parametrize("steps", [(37,), (1,) * 37, (5, 1, 20, 11)])
@torch.no_grad()
def test_cache_changes_nothing(make, steps):
    attention = Attention(12, 3, causal=True).double()
    x = torch.randn(2, 37, 12, dtype=torch.float64)
    cache = make()
    parts = [attention(part, cache=cache) for part in x.split(steps, dim=1)]
    torch.testing.assert_close(torch.cat(parts, 1), attention(x))
    assert cache.length == 37


@pytest.mark.parametrize("make", [Cache, lambda: StaticCache(8)], ids=["growing", "static"])
@torch.no_grad()
def test_reorder_moves_rows(make):
    own, cross = Attention(12, 3, causal=True), Attention(12, 3)
    x, memory, cache = torch.randn(3, 5, 12), torch.randn(3, 4, 12), make()
    index = torch.tensor([2, 0, 2, 1])
    own(x[:, :4], cache=cache), cross(x[:, :4], memory, cache=cache)
    cache.reorder(index)
    torch.testing.assert_close(own(x[index, 4:], cache=cache), own(x)[index, 4:])
    torch.testing.assert_close(cross(x[index], memory[index] * 0, cache=cache), cross(x, memory)[index])


def test_the_buffer_is_copied_seldom():
    cache, module, moves = Cache(), object(), set()
    for _ in range(500):
        cache.extend(module, torch.zeros(1, 1, 1, 2), torch.zeros(1, 1, 1, 2))
        moves.add(cache.self_attention[module].k.data_ptr())
    assert len(moves) <= 7


def test_says_what_is_wrong():
    with pytest.raises(ValueError, match="n_heads=5 does not divide d_model=12"):
        Attention(12, 5)
    cache = StaticCache(2)
    with pytest.raises(ValueError, match="holds 2 positions, but 3 are needed"), torch.no_grad():
        Attention(12, 3, causal=True)(torch.randn(1, 3, 12), cache=cache)
    with pytest.raises(RuntimeError, match="no_grad"):
        Attention(12, 3, causal=True)(torch.randn(1, 3, 12), cache=Cache())
