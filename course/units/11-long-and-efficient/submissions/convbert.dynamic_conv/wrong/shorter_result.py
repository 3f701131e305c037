"""Your result is shorter than the text. Zeros before and after it complete the neighbourhood of the positions near its ends."""

import torch


def span_dynamic_conv(value, kernel_logits):
    kernel_size = kernel_logits.size(-1)
    kernel = kernel_logits.softmax(-1)
    half = kernel_size // 2
    if value.size(1) < kernel_size:
        return value[:, :0]
    spans = value.unfold(1, kernel_size, 1)
    return (spans * kernel[:, half : value.size(1) - half, None]).sum(-1)
