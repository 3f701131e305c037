# NaN instead of 0 when the mask is empty
def replaced_token_detection_loss(logits, original, corrupted, mask):
    z = logits[mask]
    r = (original[mask] != corrupted[mask]).to(z.dtype)
    loss = r * F.logsigmoid(z) + (1 - r) * F.logsigmoid(-z)
    return -loss.mean()
