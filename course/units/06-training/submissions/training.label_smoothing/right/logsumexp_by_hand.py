import torch
import torch.nn.functional as F


def label_smoothed_loss(logits, targets, smoothing, pad_id):
    vocab = logits.shape[-1]
    logits = logits.reshape(-1, vocab)
    targets = targets.reshape(-1)
    keep = targets.ne(pad_id)
    one_hot = F.one_hot(targets, vocab).to(logits.dtype)
    wanted = one_hot * (1 - smoothing) + (1 - one_hot) * smoothing / (vocab - 1)
    losses = torch.logsumexp(logits, dim=1) - (wanted * logits).sum(dim=1)
    return torch.where(keep, losses, torch.zeros_like(losses)).sum() / keep.sum()
