"""Your taps go on at the other end of the text; beyond the ends there are zeros."""

import torch


def span_dynamic_conv(value, kernel_logits):
    taps = kernel_logits.size(-1)
    kernel = kernel_logits.softmax(-1)
    return sum(kernel[..., w : w + 1] * value.roll(taps // 2 - w, 1) for w in range(taps))
