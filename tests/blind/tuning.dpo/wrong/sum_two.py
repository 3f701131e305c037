# adds the reference's difference instead of subtracting it + sums over the batch
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    total = 0.0
    for c, r, rc, rr in zip(chosen, rejected, ref_chosen, ref_rejected):
        diff = (c - rr.detach()) - (r - rc.detach())
        total = total - F.logsigmoid(beta * diff)
    return total
