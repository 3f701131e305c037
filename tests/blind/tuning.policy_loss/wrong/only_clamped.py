# only the clamped ratio, without the min: no gradient either where a bad answer became likelier
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    ratio = (log_probs - old_log_probs.detach()).exp()
    ratio = torch.clamp(ratio, 1 - clip, 1 + clip)
    objective = ratio * advantages.detach()[:, None]
    m = mask.to(objective.dtype)
    return -(objective * m).sum() / m.sum().clamp(min=1)
