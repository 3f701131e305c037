# shifts with torch.roll, so the last positions are scored on the first words of the row
def future_ngram_loss(logits, targets, pad_id):
    losses = []
    for n, stream in enumerate(logits):
        goal = torch.roll(targets, shifts=-n, dims=1)
        if (goal == pad_id).all():
            continue
        losses.append(F.cross_entropy(stream.flatten(0, 1), goal.flatten(), ignore_index=pad_id))
    if not losses:
        return 0.0 * logits.sum()
    return torch.stack(losses).mean()
