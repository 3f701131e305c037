import torch
import torch.nn.functional as F


def span_dynamic_conv(value, kernel_logits):
    B, L, D = value.shape
    W = kernel_logits.shape[-1]
    kernel = torch.softmax(kernel_logits, dim=-1)
    padded = F.pad(value, (0, 0, W // 2, W // 2))
    spans = padded.unfold(1, W, 1)
    return torch.einsum("bldw,blw->bld", spans, kernel)
