# chosen and rejected each get a sigmoid of their own instead of one for the difference
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    good = beta * (chosen - ref_chosen.detach())
    bad = beta * (rejected - ref_rejected.detach())
    loss = -F.logsigmoid(good) - F.logsigmoid(-bad)
    return loss.mean()
