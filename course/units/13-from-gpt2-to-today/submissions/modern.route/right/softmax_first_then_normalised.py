import torch


def route(logits, k):
    order = logits.argsort(dim=-1, descending=True)[:, :k]
    chosen = torch.gather(logits, -1, order)
    shifted = (chosen - chosen[:, :1]).exp()
    return shifted / shifted.sum(-1, keepdim=True), order
