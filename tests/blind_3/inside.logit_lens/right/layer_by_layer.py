# style: one layer at a time, the gain folded into the output matrix first
def logit_lens(states, gain, unembed, eps=1e-6):
    folded = unembed * gain.unsqueeze(0)
    per_layer = []
    for x in states.unbind(0):
        size = torch.einsum("ble,ble->bl", x, x) / x.shape[-1]
        r = torch.rsqrt(size + eps)
        per_layer.append(torch.einsum("ble,ve->blv", x, folded) * r[..., None])
    return torch.stack(per_layer)
