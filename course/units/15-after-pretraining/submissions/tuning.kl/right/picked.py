import torch


def kl_estimate(log_probs, ref_log_probs, mask):
    d = ref_log_probs.detach()[mask] - log_probs[mask]
    return (torch.expm1(d) - d).sum() / max(1, int(mask.sum()))
