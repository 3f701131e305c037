"""You add the layers' states up; the states of a layer already hold everything that the layers before it have written."""


def logit_lens(states, gain, unembed, eps=1e-6):
    states = states.cumsum(0)
    return (states * (states.square().mean(-1, keepdim=True) + eps).rsqrt() * gain) @ unembed.T
