"""You detach the states, so no gradient reaches the layers: a lens could then not be used to attribute or to train."""


def logit_lens(states, gain, unembed, eps=1e-6):
    states = states.detach()
    return (states * (states.square().mean(-1, keepdim=True) + eps).rsqrt() * gain) @ unembed.T
