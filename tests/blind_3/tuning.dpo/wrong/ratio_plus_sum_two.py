# the reference's difference is added instead of subtracted + the batch is summed instead of averaged
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    total = 0.0
    for c, r, rc, rr in zip(chosen, rejected, ref_chosen.detach(), ref_rejected.detach()):
        total = total - F.logsigmoid(beta * ((c - r) + (rc - rr)))
    return total
