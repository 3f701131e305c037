# only the term of the replaced words, without (1 - r) log(1 - sigmoid) + the mean of the rows' means instead of over the mask
def replaced_token_detection_loss(logits, original, corrupted, mask):
    total = 0.0
    for z, x, x_hat, m in zip(logits, original, corrupted, mask):
        r = (x != x_hat).float()
        ce = -r * F.logsigmoid(z)
        total = total + (ce * m).sum() / m.sum()
    return total / logits.shape[0]
