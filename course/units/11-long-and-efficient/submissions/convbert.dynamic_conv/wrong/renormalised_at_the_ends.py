"""You redistribute the weight beyond the ends of the text among the positions inside. The values outside are zeros, and the weights are not renormalised."""

import torch
import torch.nn.functional as F


def span_dynamic_conv(value, kernel_logits):
    length, kernel_size = value.size(1), kernel_logits.size(-1)
    place = torch.arange(length, device=value.device)[:, None]
    place = place + torch.arange(kernel_size, device=value.device) - kernel_size // 2
    inside = (place >= 0) & (place < length)
    kernel = kernel_logits.masked_fill(~inside, float("-inf")).softmax(-1)
    spans = F.pad(value, (0, 0, kernel_size // 2, kernel_size // 2)).unfold(1, kernel_size, 1)
    return (spans * kernel[:, :, None]).sum(-1)
