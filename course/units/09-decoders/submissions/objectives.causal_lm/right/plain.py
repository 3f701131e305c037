import torch.nn.functional as F


def causal_lm_loss(logits, ids, pad_id):
    wanted = ids[:, 1:]
    real = wanted != pad_id
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), wanted, reduction="none")
    return losses[real].sum() / real.sum().clamp(min=1)
