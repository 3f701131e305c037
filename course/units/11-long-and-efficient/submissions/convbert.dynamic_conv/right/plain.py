import torch.nn.functional as F


def span_dynamic_conv(value, kernel_logits):
    kernel_size = kernel_logits.size(-1)
    kernel = kernel_logits.softmax(-1)
    spans = F.pad(value, (0, 0, kernel_size // 2, kernel_size // 2)).unfold(1, kernel_size, 1)
    return (spans * kernel[:, :, None]).sum(-1)
