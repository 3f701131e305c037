# averages within each sentence first and then over the sentences, instead of over all real words
def replaced_token_detection_loss(logits, original, corrupted, mask):
    r = (original != corrupted).float()
    loss = F.binary_cross_entropy_with_logits(logits, r, reduction="none") * mask
    per_sentence = loss.sum(dim=1) / mask.sum(dim=1).clamp(min=1)
    return per_sentence.mean()
