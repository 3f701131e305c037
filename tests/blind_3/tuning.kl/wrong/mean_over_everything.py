# the mean is over all B*L positions, also over those that are masked
def kl_estimate(log_probs, ref_log_probs, mask):
    d = torch.where(mask, ref_log_probs.detach() - log_probs, torch.zeros_like(log_probs))
    return (torch.exp(d) - d - 1).mean()
