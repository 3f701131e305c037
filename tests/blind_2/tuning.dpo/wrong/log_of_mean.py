# log of the mean sigmoid instead of the mean of the log sigmoids
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    better = chosen - ref_chosen.detach()
    worse = rejected - ref_rejected.detach()
    p = torch.sigmoid(beta * (better - worse))
    return -torch.log(p.mean())
