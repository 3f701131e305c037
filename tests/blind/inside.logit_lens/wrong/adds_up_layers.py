# takes the states for what each layer adds, and sums them up over the layers first
def logit_lens(states, gain, unembed, eps=1e-6):
    stream = torch.cumsum(states, dim=0)
    rms = torch.sqrt((stream ** 2).mean(-1, keepdim=True) + eps)
    return (stream / rms * gain) @ unembed.T
