# the label is 1 for an original token and 0 for a replaced one
def replaced_token_detection_loss(logits, original, corrupted, mask):
    labels = (original == corrupted).float()
    loss = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return loss[mask].mean()
