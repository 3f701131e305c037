import torch


def kl_estimate(log_probs, ref_log_probs, mask):
    d = ref_log_probs.detach() - log_probs
    d = torch.where(mask, d, torch.zeros_like(d))
    estimate = d.exp() - d - 1
    count = mask.sum().clamp(min=1)
    return estimate.sum() / count
