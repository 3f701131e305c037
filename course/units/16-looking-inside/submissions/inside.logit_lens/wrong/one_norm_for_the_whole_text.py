"""You take one root mean square over all positions together; a long word would then quieten the others."""


def logit_lens(states, gain, unembed, eps=1e-6):
    return (states * (states.square().mean((-2, -1), keepdim=True) + eps).rsqrt() * gain) @ unembed.T
