"""Your softmax overflows where logits are large: take the largest away before the exponential."""

import torch
import torch.nn.functional as F


def span_dynamic_conv(value, kernel_logits):
    taps = kernel_logits.size(-1)
    kernel = kernel_logits.exp() / kernel_logits.exp().sum(-1, keepdim=True)
    spans = F.pad(value, (0, 0, taps // 2, taps // 2)).unfold(1, taps, 1)
    return (spans * kernel[:, :, None]).sum(-1)
