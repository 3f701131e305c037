# divides by the norm of the vector (sum of the squares), not the root of their mean
def rms_norm(x, weight, eps=1e-06):
    original = x.dtype
    x = x.float()
    length = torch.sqrt(torch.sum(x * x, dim=-1, keepdim=True) + eps)
    return ((x / length) * weight.float()).to(original)
