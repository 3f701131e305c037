# beta multiplies the loss instead of the difference inside the sigmoid
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    pi_logratios = chosen - rejected
    ref_logratios = (ref_chosen - ref_rejected).detach()
    return (-beta * F.logsigmoid(pi_logratios - ref_logratios)).mean()
