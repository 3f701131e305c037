"""Attention in windows against the same attention with a dense mask."""

import pytest
import torch

from tfkit.nn import local_global_mask, scaled_dot_product_attention
from tfkit.nn.sliding_window import blockwise_window_attention, window_mask

HEADS, WIDTH = 2, 4


@pytest.mark.parametrize("reach", [1, 3, 4, 8])
@pytest.mark.parametrize("length", [1, 5, 8, 19])
def test_windows_equal_a_dense_mask(length, reach):
    """Values and gradients, for odd windows, for ends that fill no block, and where all of a window is padding."""
    generator = torch.Generator().manual_seed(length)
    shape = (3, length, HEADS, WIDTH)
    q, k, v = (torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_() for _ in "qkv")
    upstream = torch.randn(3, length, HEADS * WIDTH, generator=generator, dtype=torch.float64)
    non_padding = torch.arange(length) < torch.tensor([[length], [length // 2 + 1], [1]])

    dense_mask = local_global_mask(length, 2 * reach, [])[None, None] & non_padding[:, None, None]
    dense, _ = scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, v)), dense_mask)
    expected = dense.transpose(1, 2).flatten(2)
    found = blockwise_window_attention(q, k, v, window_mask(non_padding, reach))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(
        torch.autograd.grad(found, (q, k, v), upstream), torch.autograd.grad(expected, (q, k, v), upstream)
    )


def test_texts_of_a_batch_do_not_meet():
    """The blocks of neighbouring texts overlap in memory; the mask keeps them apart."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 12, HEADS, WIDTH) for _ in "qkv")
    mask = window_mask(torch.ones(2, 12, dtype=torch.bool), 4)
    together = blockwise_window_attention(q, k, v, mask)
    for row in range(2):
        alone = blockwise_window_attention(*(x[row : row + 1] for x in (q, k, v)), mask[:1])
        torch.testing.assert_close(together[row], alone[0])
