# a layer norm that subtracts the mean, instead of an RMS norm
def logit_lens(states, gain, unembed, eps=1e-6):
    h = F.layer_norm(states, (states.shape[-1],), weight=gain, eps=eps)
    return h @ unembed.T
