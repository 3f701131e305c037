"""Your mask is [B,L,L]; beside scores [B,H,Q,K] its batch would be taken for heads.

An axis of size 1 is wanted where the heads are."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] <= place[:, None]
    prefix = place < prefix_lengths[:, None]
    return causal | prefix[:, None, :]
