# a mean over nothing is NaN instead of 0
def kl_estimate(log_probs, ref_log_probs, mask):
    d = ref_log_probs.detach() - log_probs
    est = d.exp() - 1 - d
    return est[mask].mean()
