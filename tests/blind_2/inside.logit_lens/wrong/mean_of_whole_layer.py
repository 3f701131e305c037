# the mean of the squares runs over a whole layer's states, not over one vector's columns
def logit_lens(states, gain, unembed, eps=1e-6):
    out = []
    for layer in range(states.shape[0]):
        x = states[layer]
        normed = x / (x.pow(2).mean() + eps).sqrt()
        out.append(F.linear(normed * gain, unembed))
    return torch.stack(out, dim=0)
