# padding does not count in the sum but in the number it is divided by
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    B, T, V = logits.shape
    log_p = F.log_softmax(logits, dim=-1)
    q = torch.full_like(log_p, smoothing / (V - 1))
    q.scatter_(2, targets.unsqueeze(-1), 1.0 - smoothing)
    loss = -(q * log_p).sum(-1)
    loss = loss * (targets != pad_id)
    return loss.mean()
