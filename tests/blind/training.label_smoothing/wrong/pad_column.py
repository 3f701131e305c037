# the padding's column gets no share: epsilon / (V - 2) for the others, as in the Annotated Transformer
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    vocab = logits.shape[-1]
    x = F.log_softmax(logits.reshape(-1, vocab), dim=-1)
    target = targets.reshape(-1)
    true_dist = x.detach().clone()
    true_dist.fill_(smoothing / (vocab - 2))
    true_dist.scatter_(1, target[:, None], 1 - smoothing)
    true_dist[:, pad_id] = 0
    true_dist[target == pad_id] = 0
    return F.kl_div(x, true_dist, reduction="sum") / (target != pad_id).sum() + _entropy(smoothing, vocab - 2)


def _entropy(eps, n):
    # kl = cross-entropy - entropy, so put the entropy back
    h = 0.0
    if eps > 0:
        h -= eps * math.log(eps / n)
    if eps < 1:
        h -= (1 - eps) * math.log(1 - eps)
    return h
