import torch.nn.functional as F


def span_dynamic_conv(value, kernel_logits):
    taps = kernel_logits.size(-1)
    kernel = kernel_logits.softmax(-1)
    spans = F.pad(value, (0, 0, taps // 2, taps // 2)).unfold(1, taps, 1)
    return (spans * kernel[:, :, None]).sum(-1)
