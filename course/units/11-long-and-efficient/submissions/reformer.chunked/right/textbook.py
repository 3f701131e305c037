import torch


def chunked_feed_forward(f, x, chunk):
    outputs = []
    for start in range(0, x.size(1), chunk):
        outputs.append(f(x[:, start : start + chunk]))
    return torch.cat(outputs, dim=1)
