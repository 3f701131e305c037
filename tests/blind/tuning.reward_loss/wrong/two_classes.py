# classifies each answer alone as good or bad, instead of comparing the two
def reward_loss(chosen, rejected):
    scores = torch.cat([chosen, rejected])
    good = torch.cat([torch.ones_like(chosen), torch.zeros_like(rejected)])
    return F.binary_cross_entropy_with_logits(scores, good)
