"""Your result is shorter than the text. Zeros before and after it complete the neighbourhood of the positions near its ends."""

import torch


def span_dynamic_conv(value, kernel_logits):
    taps = kernel_logits.size(-1)
    kernel = kernel_logits.softmax(-1)
    half = taps // 2
    if value.size(1) < taps:
        return value[:, :0]
    spans = value.unfold(1, taps, 1)
    return (spans * kernel[:, half : value.size(1) - half, None]).sum(-1)
