import torch


def span_dynamic_conv(value, kernel_logits):
    length, kernel_size = value.shape[1], kernel_logits.shape[2]
    weights = kernel_logits.softmax(2)
    rows = []
    for i in range(length):
        total = torch.zeros_like(value[:, 0])
        for w in range(kernel_size):
            j = i + w - kernel_size // 2
            if 0 <= j < length:
                total = total + weights[:, i, w, None] * value[:, j]
        rows.append(total)
    return torch.stack(rows, dim=1)
