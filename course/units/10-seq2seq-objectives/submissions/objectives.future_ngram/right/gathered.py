import torch


def future_ngram_loss(logits, targets, pad_id):
    N, B, T, V = logits.shape
    place = torch.arange(T, device=targets.device)[None, :] + torch.arange(N, device=targets.device)[:, None]
    inside = place < T
    wanted = targets[:, place.clamp(max=T - 1)].transpose(0, 1)
    real = inside[:, None, :] & (wanted != pad_id)
    log_p = logits.log_softmax(-1).gather(-1, wanted[..., None])[..., 0]
    count = real.sum((1, 2))
    means = -(log_p * real).sum((1, 2)) / count.clamp(min=1)
    return means.sum() / (count > 0).sum().clamp(min=1)
