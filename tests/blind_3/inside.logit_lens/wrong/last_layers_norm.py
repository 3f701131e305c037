# every layer is divided by the size of the last layer's vector, as "the final norm" suggests
def logit_lens(states, gain, unembed, eps=1e-6):
    final = states[-1]
    rms = torch.sqrt(final.pow(2).mean(-1, keepdim=True) + eps)
    out = []
    for n in range(len(states)):
        out.append((states[n] / rms * gain) @ unembed.t())
    return torch.stack(out, dim=0)
