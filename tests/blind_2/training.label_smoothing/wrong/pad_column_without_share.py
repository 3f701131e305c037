# the padding's column gets no share: the rest is spread over V-2 tokens
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    n_vocab = logits.shape[-1]
    hot = F.one_hot(targets, n_vocab).to(logits.dtype)
    target_dist = hot * (1 - smoothing) + (1 - hot) * smoothing / (n_vocab - 2)
    target_dist[:, :, pad_id] = 0
    keep = (targets != pad_id).to(logits.dtype)
    ce = -torch.einsum("btv,btv->bt", target_dist, logits.log_softmax(-1))
    return (ce * keep).sum() / keep.sum()
