"""You divide by the length of the vector; the root *mean* square is the length over the square root of the width."""


def logit_lens(states, gain, unembed, eps=1e-6):
    return (states * (states.square().sum(-1, keepdim=True) + eps).rsqrt() * gain) @ unembed.T
