# log of the sigmoid, which is -inf for large negative margins
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    with torch.no_grad():
        ref = ref_chosen - ref_rejected
    x = beta * ((chosen - rejected) - ref)
    prob = 1 / (1 + torch.exp(-x))
    return -torch.log(prob).mean()
