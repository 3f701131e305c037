# style: a list over the layers, einsum for the unembedding, rsqrt
def logit_lens(states, gain, unembed, eps=1e-6):
    def read(x):
        inv = torch.rsqrt(torch.einsum("ble,ble->bl", x, x) / x.shape[-1] + eps)
        return torch.einsum("ble,bl,e,ve->blv", x, inv, gain, unembed)

    return torch.stack([read(x) for x in states])
