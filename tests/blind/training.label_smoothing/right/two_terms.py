# no distribution q is built: the right token's term, and the sum of all log p less the right one's; real positions first
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    real = targets != pad_id
    z, y = logits[real], targets[real]                  # [N,V], [N]
    vocab = z.shape[-1]
    log_z = torch.logsumexp(z, dim=-1)
    right = z.gather(1, y[:, None])[:, 0] - log_z       # log p of the right token
    loss = -(1 - smoothing) * right
    if smoothing:
        others = (z - log_z[:, None]).sum(-1) - right
        loss = loss - smoothing / (vocab - 1) * others
    return loss.sum() / max(len(y), 1)
