# shifted targets for all streams by one index table, then sums and counts per stream
def future_ngram_loss(logits, targets, pad_id):
    N, B, T, V = logits.shape
    where = torch.arange(T, device=logits.device)[None, :] + torch.arange(N, device=logits.device)[:, None]
    shifted = targets[:, where.clamp(max=T - 1)].transpose(0, 1)                 # [N,B,T]
    valid = (where < T)[:, None, :] & (shifted != pad_id)
    safe = shifted.masked_fill(~valid, 0)
    picked = logits.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    nll = (logits.logsumexp(-1) - picked).masked_fill(~valid, 0.0)
    count = valid.sum(dim=(1, 2))
    means = nll.sum(dim=(1, 2)) / count.clamp(min=1)
    return means.sum() / (count > 0).sum().clamp(min=1)
