# two separate classifications (chosen = 1, rejected = 0), not the difference of the two rewards
def reward_loss(chosen, rejected):
    good = F.binary_cross_entropy_with_logits(chosen, torch.ones_like(chosen))
    bad = F.binary_cross_entropy_with_logits(rejected, torch.zeros_like(rejected))
    return (good + bad) / 2
