import torch.nn.functional as F


def sequence_log_probs(logits, labels):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=-100, reduction="none")
    return -losses.sum(-1)
