import torch


def label_smoothed_loss(logits, targets, smoothing, pad_id):
    vocab = logits.size(-1)
    wanted = torch.full_like(logits, smoothing / (vocab - 1))
    wanted = wanted.scatter(-1, targets.unsqueeze(-1), 1 - smoothing)
    losses = -(wanted * logits.log_softmax(-1)).sum(-1)
    return losses[targets != pad_id].mean()
