# averages the mean losses of the texts, so words in short texts count more
def causal_lm_loss(logits, ids, pad_id):
    losses = []
    for row, text in zip(logits, ids):
        target = text[1:]
        keep = target != pad_id
        if keep.sum() == 0:
            continue
        losses.append(F.cross_entropy(row[:-1][keep], target[keep]))
    if not losses:
        return logits.sum() * 0.0
    return torch.stack(losses).mean()
