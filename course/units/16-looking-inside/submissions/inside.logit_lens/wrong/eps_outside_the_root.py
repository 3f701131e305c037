"""You add eps after taking the square root; it belongs under the root, beside the mean square."""


def logit_lens(states, gain, unembed, eps=1e-6):
    return (states / (states.square().mean(-1, keepdim=True).sqrt() + eps) * gain) @ unembed.T
