# projects the stream so far (sum of the parts up to c), not each part alone
def direct_attribution(parts, unembed, target, rival):
    stream = parts.cumsum(dim=0)
    d = unembed[target] - unembed[rival]
    return torch.einsum("cble,ble->cbl", stream, d)
