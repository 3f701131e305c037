"""The exercises' references on sparse patterns, against loops over their definitions."""

import pytest
import torch

from tfkit.nn import bigbird_mask, local_global_mask, scaled_dot_product_attention, sliding_window_attention


@pytest.mark.parametrize(
    ("length", "window", "chosen"), [(1, 2, []), (7, 2, [0]), (9, 5, [3, 8]), (4, 0, []), (3, 9, [])]
)
def test_near_ones_and_global_ones(length, window, chosen):
    mask = local_global_mask(length, window, chosen)
    assert mask.dtype == torch.bool
    for i in range(length):
        for j in range(length):
            assert mask[i, j] == (abs(i - j) <= window // 2 or i in chosen or j in chosen)


@pytest.mark.parametrize(("block", "window", "first", "many"), [(1, 3, 1, 2), (3, 1, 0, 1), (2, 5, 2, 0)])
def test_blocks_near_first_and_drawn(block, window, first, many):
    blocks = 6
    drawn = torch.randint(blocks, (blocks, many), generator=torch.Generator().manual_seed(0))
    mask = bigbird_mask(blocks * block, block, window, first, drawn)
    assert mask.dtype == torch.bool and mask.shape == (blocks * block, blocks * block)
    for i in range(blocks * block):
        for j in range(blocks * block):
            a, b = i // block, j // block
            assert mask[i, j] == (abs(a - b) <= window // 2 or a < first or b < first or b in drawn[a].tolist())


@pytest.mark.parametrize("window", [0, 1, 2, 5, 40])
def test_the_window_gives_what_the_mask_over_all_scores_gives(window):
    q, k, v = torch.randn(2, 9, 4), torch.randn(2, 9, 4), torch.randn(2, 9, 3)
    expected, _ = scaled_dot_product_attention(q, k, v, local_global_mask(9, window, []))
    torch.testing.assert_close(sliding_window_attention(q, k, v, window), expected)
