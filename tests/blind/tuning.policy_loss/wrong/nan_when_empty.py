# the mean over an empty mask is nan instead of 0
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    with torch.no_grad():
        a = advantages.unsqueeze(1).expand_as(mask)
        old = old_log_probs.clone()
    r = torch.exp(log_probs - old)
    surrogate = torch.min(r * a, r.clamp(1 - clip, 1 + clip) * a)
    return -surrogate[mask].mean()
