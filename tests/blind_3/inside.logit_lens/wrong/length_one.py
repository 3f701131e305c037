# divided by the length, the root of the sum of squares, instead of the root of the mean
def logit_lens(states, gain, unembed, eps=1e-6):
    norm = (states * states).sum(dim=-1, keepdim=True)
    x = states / torch.sqrt(norm + eps)
    return torch.einsum("nble,e,ve->nblv", x, gain, unembed)
