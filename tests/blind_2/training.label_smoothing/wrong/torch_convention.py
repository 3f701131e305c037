# torch's label_smoothing: the share goes to all V tokens, the right one included
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    return F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, label_smoothing=smoothing
    )
