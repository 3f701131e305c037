# squares in x's own dtype and widens only afterwards: float16 overflows
def rms_norm(x, weight, eps=1e-06):
    variance = x.pow(2).to(torch.promote_types(x.dtype, torch.float32)).mean(dim=-1, keepdim=True)
    normed = x * torch.rsqrt(variance + eps)
    return (weight * normed).to(x.dtype)
