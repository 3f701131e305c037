# sets the loss of padding to 0 but divides by all positions
def replaced_token_detection_loss(logits, original, corrupted, mask):
    r = (original != corrupted).to(logits.dtype)
    per_token = -(r * F.logsigmoid(logits) + (1 - r) * F.logsigmoid(-logits))
    return (per_token * mask).mean()
