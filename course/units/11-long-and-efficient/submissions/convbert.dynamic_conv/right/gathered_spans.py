import torch


def span_dynamic_conv(value, kernel_logits):
    length, kernel_size = value.size(1), kernel_logits.size(2)
    place = torch.arange(length, device=value.device)[:, None]
    place = place + torch.arange(kernel_size, device=value.device) - kernel_size // 2
    inside = (place >= 0) & (place < length)
    spans = value[:, place.clamp(0, length - 1)] * inside[..., None]
    kernel = torch.exp(kernel_logits - kernel_logits.logsumexp(-1, keepdim=True))
    return (kernel.unsqueeze(2) @ spans).squeeze(2)
