# multiplies by beta outside of the log-sigmoid
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    ref_chosen, ref_rejected = ref_chosen.detach(), ref_rejected.detach()
    gain_c = chosen - ref_chosen
    gain_r = rejected - ref_rejected
    losses = beta * F.softplus(gain_r - gain_c)
    return torch.mean(losses)
