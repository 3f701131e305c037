# the right token gets 1 - eps and a share of eps/(V-1) on top + the mean of each sentence's mean, not over all positions
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    V = logits.shape[2]
    log_p = torch.log_softmax(logits, 2)
    losses = []
    for b in range(len(targets)):
        keep = targets[b] != pad_id
        lp = log_p[b][keep]
        q = (1 - smoothing) * F.one_hot(targets[b][keep], V) + smoothing / (V - 1)
        losses.append(-(q * lp).sum(1).mean())
    return torch.stack(losses).mean()
