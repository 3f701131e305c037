import torch
import torch.nn.functional as F


def span_dynamic_conv(value, kernel_logits):
    batch, length, width = value.shape
    kernel_size = kernel_logits.size(-1)
    image = value.transpose(1, 2).unsqueeze(2)
    spans = F.unfold(image, (1, kernel_size), padding=(0, kernel_size // 2)).view(batch, width, kernel_size, length)
    return (spans * kernel_logits.softmax(-1).transpose(1, 2).unsqueeze(1)).sum(2).transpose(1, 2)
