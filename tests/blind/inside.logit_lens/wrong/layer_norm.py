# LayerNorm instead of RMS norm: subtracts the mean
def logit_lens(states, gain, unembed, eps=1e-6):
    h = F.layer_norm(states, (states.shape[-1],), weight=gain, bias=None, eps=eps)
    return torch.einsum('nble,ve->nblv', h, unembed)
