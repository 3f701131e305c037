# torch's label_smoothing: the right token gets a share of epsilon too, epsilon / V for everyone
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad_id, label_smoothing=smoothing)
