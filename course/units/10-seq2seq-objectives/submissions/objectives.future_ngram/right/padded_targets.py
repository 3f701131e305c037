import torch
import torch.nn.functional as F


def future_ngram_loss(logits, targets, pad_id):
    total, used = logits.new_zeros(()), 0
    for stream in logits:
        loss = F.cross_entropy(stream.transpose(1, 2), targets, ignore_index=pad_id, reduction="none")
        real = targets.ne(pad_id)
        if real.any():
            total = total + loss[real].mean()
            used += 1
        targets = torch.cat([targets[:, 1:], torch.full_like(targets[:, :1], pad_id)], dim=1)
    return total / max(used, 1)
