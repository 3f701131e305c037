# sum over the pairs instead of the mean + chosen and rejected exchanged
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    ref_chosen = ref_chosen.detach()
    ref_rejected = ref_rejected.detach()
    margin = (rejected - ref_rejected) - (chosen - ref_chosen)
    loss = 0
    for m in margin:
        loss = loss - F.logsigmoid(beta * m)
    return loss
