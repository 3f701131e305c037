import torch.nn.functional as F


def label_smoothed_loss(logits, targets, smoothing, pad_id):
    words = logits.size(-1)
    goal = F.one_hot(targets, words).to(logits.dtype)
    goal = goal * (1 - smoothing) + (1 - goal) * smoothing / (words - 1)
    return -(goal * F.log_softmax(logits, dim=-1)).sum(-1).mean()
