# divides by the number of all positions, the padded ones included
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    V = logits.size(-1)
    log_p = logits.log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / (V - 1))
    q.scatter_(-1, targets.unsqueeze(-1), 1.0 - smoothing)
    loss = -(q * log_p).sum(-1)
    loss = loss.masked_fill(targets == pad_id, 0.0)
    return loss.mean()
