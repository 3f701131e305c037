# sigmoid before a loss that takes logits + the mean runs over all positions, padding counted in n
def replaced_token_detection_loss(logits, original, corrupted, mask):
    probs = torch.sigmoid(logits)
    replaced = (original != corrupted).type_as(probs)
    bce = F.binary_cross_entropy_with_logits(probs, replaced, weight=mask.type_as(probs))
    return bce
