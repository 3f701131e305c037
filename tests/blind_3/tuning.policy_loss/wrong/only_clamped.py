# only the clamped ratio is used, no min: the gradient vanishes on the wrong side as well
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    n = int(mask.sum())
    if n == 0:
        return (log_probs * 0).sum()
    r = torch.exp(log_probs - old_log_probs.detach())
    r = torch.clamp(r, 1 - clip, 1 + clip)
    return -(r * advantages.detach().view(-1, 1))[mask].mean()
