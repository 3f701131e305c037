# applies the sigmoid and then a loss that applies it again
def replaced_token_detection_loss(logits, original, corrupted, mask):
    p = torch.sigmoid(logits)
    target = torch.zeros_like(p)
    target[original != corrupted] = 1.0
    return F.binary_cross_entropy_with_logits(p.masked_select(mask), target.masked_select(mask))
