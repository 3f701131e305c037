"""You multiply by 1 + gain, as Gemma's files do; here the gain is the factor itself."""


def logit_lens(states, gain, unembed, eps=1e-6):
    return (states * (states.square().mean(-1, keepdim=True) + eps).rsqrt() * (1 + gain)) @ unembed.T
