"""The exercises' references on sparse patterns, against loops over their definitions."""

import pytest
import torch

from tfkit.nn import local_global_mask


@pytest.mark.parametrize(
    ("length", "window", "chosen"), [(1, 2, []), (7, 2, [0]), (9, 5, [3, 8]), (4, 0, []), (3, 9, [])]
)
def test_near_ones_and_global_ones(length, window, chosen):
    mask = local_global_mask(length, window, chosen)
    assert mask.dtype == torch.bool
    for i in range(length):
        for j in range(length):
            assert mask[i, j] == (abs(i - j) <= window // 2 or i in chosen or j in chosen)
