# beta multiplies the loss instead of the difference inside the sigmoid
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    pi = chosen - rejected
    ref = (ref_chosen - ref_rejected).detach()
    return -beta * F.logsigmoid(pi - ref).mean()
