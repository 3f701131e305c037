# d the other way round: log_probs - ref_log_probs
def kl_estimate(log_probs, ref_log_probs, mask):
    if not mask.any():
        return (log_probs * 0).sum()
    log_ratio = (log_probs - ref_log_probs.detach())[mask]
    k3 = log_ratio.exp() - log_ratio - 1
    return k3.mean()
