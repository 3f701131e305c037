# does not detach the reference
def kl_estimate(log_probs, ref_log_probs, mask):
    d = torch.where(mask, ref_log_probs - log_probs, torch.zeros_like(log_probs))
    values = torch.exp(d) - d - 1            # exp(0) - 0 - 1 = 0 outside the mask
    return values.sum() / mask.sum().clamp(min=1)
