# style: no target distribution is built: the right token's log-probability and the total of the row, selected with a boolean index
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    vocab = logits.size(-1)
    real = targets != pad_id
    rows, words = logits[real], targets[real]          # [N,V], [N]
    logp = rows - torch.logsumexp(rows, dim=-1, keepdim=True)
    right = logp[torch.arange(len(words), device=words.device), words]
    others = logp.sum(dim=-1) - right
    per_word = -((1 - smoothing) * right + smoothing / (vocab - 1) * others)
    return per_word.mean()
