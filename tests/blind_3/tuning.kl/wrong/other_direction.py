# d is log_probs - ref_log_probs, the sign is exchanged
def kl_estimate(log_probs, ref_log_probs, mask):
    d = log_probs - ref_log_probs.detach()
    d = d.masked_fill(~mask, 0.0)
    kl = d.exp() - d - 1
    return kl.sum() / mask.sum().clamp(min=1)
