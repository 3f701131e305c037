# label 1 for the original tokens instead of the replaced ones
def replaced_token_detection_loss(logits, original, corrupted, mask):
    target = original.eq(corrupted).float()
    if not mask.any():
        return logits.sum() * 0
    return F.binary_cross_entropy_with_logits(logits[mask], target[mask])
