# the sigmoid is applied before a loss that applies it again + a mean of the rows' means instead of one mean over the mask
def replaced_token_detection_loss(logits, original, corrupted, mask):
    probs = torch.sigmoid(logits)
    target = (original != corrupted).to(probs.dtype)
    bce = F.binary_cross_entropy_with_logits(probs, target, reduction="none")
    row = (bce * mask).sum(1) / mask.sum(1).clamp(min=1)
    return row.mean()
