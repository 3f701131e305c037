"""You return float32 whatever comes in; the result has the dtype of the states."""


def logit_lens(states, gain, unembed, eps=1e-6):
    states, gain, unembed = states.float(), gain.float(), unembed.float()
    return (states * (states.square().mean(-1, keepdim=True) + eps).rsqrt() * gain) @ unembed.T
