# the reference is not detached, gradient flows into it
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    r_c = beta * (chosen - ref_chosen)
    r_r = beta * (rejected - ref_rejected)
    return -F.logsigmoid(r_c - r_r).mean()
