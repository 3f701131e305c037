# the counting tokens as one flat list; the min written as a bound that depends on the sign of the advantage
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    rows, _ = mask.nonzero(as_tuple=True)
    now, then = log_probs[mask], old_log_probs.detach()[mask]
    adv = advantages.detach()[rows].to(now.dtype)
    ratio = torch.exp(now - then)
    # a good answer gains nothing above 1 + clip, a bad one nothing below 1 - clip
    bounded = torch.where(adv >= 0, ratio.clamp(max=1 + clip), ratio.clamp(min=1 - clip))
    return -(bounded * adv).sum() / max(adv.numel(), 1)
