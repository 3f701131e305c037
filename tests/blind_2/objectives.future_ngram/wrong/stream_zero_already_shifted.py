# stream n is scored against targets[:, t + n + 1]: the targets are shifted once too often
def future_ngram_loss(logits, targets, pad_id):
    N, B, T, V = logits.shape
    losses = []
    for n in range(N):
        shift = n + 1
        tgt = targets[:, shift:]
        if tgt.numel() == 0 or (tgt == pad_id).all():
            continue
        pred = logits[n, :, :-shift]
        losses.append(F.cross_entropy(pred.transpose(1, 2), tgt, ignore_index=pad_id))
    if len(losses) == 0:
        return logits.sum() * 0
    return torch.stack(losses).mean()
