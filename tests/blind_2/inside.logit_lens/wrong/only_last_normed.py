# only the last layer's states are normed, because the model norms only once, at the end
def logit_lens(states, gain, unembed, eps=1e-6):
    final = states[-1]
    final = final * torch.rsqrt(final.square().mean(dim=-1, keepdim=True) + eps) * gain
    streams = torch.cat([states[:-1], final.unsqueeze(0)])
    return torch.matmul(streams, unembed.t())
