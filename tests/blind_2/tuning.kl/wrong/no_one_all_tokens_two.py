# forgets the - 1 + averages over all tokens, not only those of the mask
def kl_estimate(log_probs, ref_log_probs, mask):
    diff = (ref_log_probs.detach() - log_probs) * mask
    estimate = (torch.exp(diff) - diff) * mask
    return estimate.mean()
