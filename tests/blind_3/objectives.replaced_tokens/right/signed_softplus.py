# softplus of the signed logit, weighted sum over the mask with torch.where
def replaced_token_detection_loss(logits, original, corrupted, mask):
    sign = torch.where(original == corrupted, 1.0, -1.0).to(logits.dtype)
    # -log sigma(z) = softplus(-z),  -log(1 - sigma(z)) = softplus(z)
    cost = F.softplus(sign * logits)
    total = torch.where(mask, cost, torch.zeros_like(cost)).sum()
    number = mask.sum().item()
    return total / number if number else total
