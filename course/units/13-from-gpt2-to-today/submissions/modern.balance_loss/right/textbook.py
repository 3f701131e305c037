import torch.nn.functional as F


def balance_loss(logits, k):
    experts = logits.size(-1)
    chosen = logits.topk(k, dim=-1).indices
    shares = F.one_hot(chosen, experts).sum((0, 1)).to(logits.dtype) / chosen.numel()
    return experts * (shares * logits.softmax(-1).mean(0)).sum()
