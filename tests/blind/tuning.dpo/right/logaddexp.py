# log(1 + e^-x) with logaddexp, the two rewards by a helper
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    def reward(logp, reference):
        return beta * (logp - reference.detach())

    margin = reward(chosen, ref_chosen) - reward(rejected, ref_rejected)
    return torch.logaddexp(torch.zeros_like(margin), -margin).mean()
