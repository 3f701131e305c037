"""You always use 1e-6 and pay no attention to the argument `eps`."""


def logit_lens(states, gain, unembed, eps=1e-6):
    return (states * (states.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * gain) @ unembed.T
