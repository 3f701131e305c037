# the mean of the squares runs over the positions as well as over the columns
def logit_lens(states, gain, unembed, eps=1e-6):
    N, B, L, E = states.shape
    out = torch.empty(N, B, L, unembed.shape[0], dtype=states.dtype)
    for n in range(N):
        for b in range(B):
            x = states[n, b]
            x = x * torch.rsqrt(x.pow(2).mean() + eps)
            out[n, b] = (gain * x) @ unembed.t()
    return out
