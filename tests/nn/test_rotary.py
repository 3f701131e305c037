"""Rotary attention rotates as `apply_rotary` does, and depends on distances only."""

import pytest
import torch

from tfkit.nn import apply_rotary
from tfkit.nn.rotary import RotaryAttention, rotary_angles, rotate_pairs


def test_turning_is_the_textbook_form():
    x = torch.randn(2, 3, 7, 8, dtype=torch.float64)
    angles = rotary_angles(torch.arange(7), 8, x.dtype)
    torch.testing.assert_close(rotate_pairs(x, *angles), apply_rotary(x, torch.arange(7)))
    part = rotate_pairs(x, *rotary_angles(torch.arange(7), 6, x.dtype))  # the first six columns only
    torch.testing.assert_close(part[..., :6], apply_rotary(x[..., :6], torch.arange(7)))
    assert torch.equal(part[..., 6:], x[..., 6:])


@pytest.mark.parametrize("shift", [1, 1000])
def test_only_distances_count(shift):
    attn = RotaryAttention(16, 2).double()
    x, places = torch.randn(2, 5, 16, dtype=torch.float64), torch.arange(5)
    here, there = (attn(x, rotary_angles(at, 8, x.dtype)) for at in (places, places + shift))
    torch.testing.assert_close(here, there)
