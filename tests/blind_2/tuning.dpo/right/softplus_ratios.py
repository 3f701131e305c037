# style: one ratio per answer, softplus instead of logsigmoid, references detached
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    def reward(logp, ref):
        return beta * (logp - ref.detach())

    gap = reward(rejected, ref_rejected) - reward(chosen, ref_chosen)
    # -log sigmoid(-gap) = softplus(gap)
    return F.softplus(gap).sum() / gap.numel()
