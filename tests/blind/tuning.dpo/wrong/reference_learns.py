# gradients flow into the reference
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    pi_logratios = chosen - rejected
    ref_logratios = ref_chosen - ref_rejected
    logits = pi_logratios - ref_logratios
    return -F.logsigmoid(beta * logits).mean()
