import torch


def head_contributions(weights, v, w_o):
    mixed = weights @ v
    width = v.shape[-1]
    parts = []
    for head in range(v.shape[1]):
        columns = w_o[:, head * width : (head + 1) * width]
        parts.append(mixed[:, head] @ columns.T)
    return torch.stack(parts, dim=1)
