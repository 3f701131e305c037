# adds eps to the root instead of to the mean of the squares under it
def rms_norm(x, weight, eps=1e-06):
    h = x.to(torch.promote_types(torch.float32, x.dtype))
    rms = torch.sqrt(torch.mean(h * h, dim=-1, keepdim=True))
    return (h / (rms + eps) * weight).type_as(x)
