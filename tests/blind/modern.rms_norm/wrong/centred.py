# subtracts the mean first, as LayerNorm does
def rms_norm(x, weight, eps=1e-06):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    mu = x.mean(-1, keepdim=True)
    var = ((x - mu) ** 2).mean(-1, keepdim=True)
    return ((x - mu) / torch.sqrt(var + eps) * weight).to(dtype)
