# rejected minus chosen: trains the model to prefer the worse answer
def reward_loss(chosen, rejected):
    return -F.logsigmoid(rejected - chosen).mean()
