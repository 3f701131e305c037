# the mean of -d, the noisy estimate that can be negative, instead of exp(d) - d - 1
def kl_estimate(log_probs, ref_log_probs, mask):
    if mask.sum() == 0:
        return log_probs.sum() * 0
    diff = log_probs - ref_log_probs.detach()
    # KL = E_p[log p - log p_ref]
    return diff[mask].mean()
