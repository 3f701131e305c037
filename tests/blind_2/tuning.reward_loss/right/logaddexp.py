# style: -log sigmoid(z) = log(1 + e^-z) with logaddexp
def reward_loss(chosen, rejected):
    z = rejected - chosen
    return torch.logaddexp(torch.zeros_like(z), z).mean()
