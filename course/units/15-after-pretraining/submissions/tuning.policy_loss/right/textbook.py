import torch


def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    change = log_probs - old_log_probs.detach()
    change = torch.where(mask, change, torch.zeros_like(change))
    ratio = change.exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)
    advantage = advantages.detach().unsqueeze(1)
    gain = torch.min(ratio * advantage, clipped * advantage)
    gain = torch.where(mask, gain, torch.zeros_like(gain))
    count = mask.sum().clamp(min=1)
    return -gain.sum() / count
