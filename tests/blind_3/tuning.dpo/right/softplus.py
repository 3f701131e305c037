# style: -log sigmoid(z) as softplus(-z), the implicit rewards under their own names
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    with torch.no_grad():
        ref_gap = ref_chosen - ref_rejected
    margin = beta * ((chosen - rejected) - ref_gap)
    return F.softplus(-margin).sum() / margin.numel()
