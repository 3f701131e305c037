# the ratio upside down, old over new + divides by all tokens, masked ones included
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    adv = advantages.detach().view(-1, 1)
    r = torch.exp(old_log_probs.detach() - log_probs)
    unclipped = r * adv
    clipped = torch.clip(r, 1.0 - clip, 1.0 + clip) * adv
    loss = -torch.minimum(unclipped, clipped)
    return torch.where(mask, loss, torch.zeros_like(loss)).mean()
