# softplus of the signed logit, real words selected before the loss
def replaced_token_detection_loss(logits, original, corrupted, mask):
    # -log sigmoid(z) = softplus(-z), -log(1 - sigmoid(z)) = softplus(z): flip the sign where the word was replaced
    z = logits[mask]
    was_replaced = torch.ne(original, corrupted)[mask]
    signed = torch.where(was_replaced, -z, z)
    return F.softplus(signed).sum() / max(z.numel(), 1)
