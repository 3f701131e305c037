# -log sigmoid(d) = log(exp(0) + exp(-d)), with logaddexp
def reward_loss(chosen, rejected):
    behind = rejected - chosen
    return torch.logaddexp(torch.zeros_like(behind), behind).mean()
