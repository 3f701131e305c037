# the reference's margin is added instead of subtracted
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    with torch.no_grad():
        ref = ref_chosen - ref_rejected
    z = beta * ((chosen - rejected) + ref)
    losses = torch.log1p(torch.exp(-z.abs())) + torch.clamp(-z, min=0)
    return losses.mean()
