# result is not cast back to x's dtype (only seen with bfloat16 or float16)
def rms_norm(x, weight, eps=1e-06):
    wide = x if x.dtype == torch.float64 else x.to(torch.float32)
    ms = wide.square().mean(dim=-1, keepdim=True)
    return weight * (wide / torch.sqrt(ms + eps))
