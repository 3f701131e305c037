# the mean of -d alone, which can be negative + divides by all B*L places instead of those of the mask
def kl_estimate(log_probs, ref_log_probs, mask):
    B, L = log_probs.shape
    ref_log_probs = ref_log_probs.detach()
    kl = log_probs[:0].sum()
    for b in range(B):
        for t in range(L):
            if mask[b, t]:
                kl = kl - (ref_log_probs[b, t] - log_probs[b, t])
    return torch.as_tensor(kl / (B * L))
