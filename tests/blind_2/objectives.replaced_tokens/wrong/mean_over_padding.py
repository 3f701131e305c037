# zeros out the padding but divides by all positions
def replaced_token_detection_loss(logits, original, corrupted, mask):
    B, S = logits.shape
    replaced = original != corrupted
    p = torch.sigmoid(logits)
    eps = 1e-12
    loss = torch.where(replaced, -torch.log(p + eps), -torch.log(1 - p + eps))
    loss = loss * mask
    return loss.sum() / (B * S)
