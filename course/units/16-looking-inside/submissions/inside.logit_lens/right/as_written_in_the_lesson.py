def logit_lens(states, gain, unembed, eps=1e-6):
    return (states * (states.square().mean(-1, keepdim=True) + eps).rsqrt() * gain) @ unembed.T
