import torch
from torch.nn.functional import softplus


def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    with torch.no_grad():
        reference = ref_chosen - ref_rejected
    return softplus(-beta * (chosen - rejected - reference)).mean()
