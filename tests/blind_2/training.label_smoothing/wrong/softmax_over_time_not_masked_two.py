# log_softmax over the positions (axis 1) instead of the vocabulary + padding positions are not left out
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    V = logits.shape[2]
    lp = torch.log_softmax(logits, 1)
    right = lp.gather(2, targets[..., None]).squeeze(-1)
    rest = (lp.sum(2) - right) * (smoothing / (V - 1))
    return -((1 - smoothing) * right + rest).mean()
