# the label is 1 for an original token instead of for a replaced one
def replaced_token_detection_loss(logits, original, corrupted, mask):
    labels = (original == corrupted).float()
    return F.binary_cross_entropy_with_logits(logits[mask], labels[mask])
