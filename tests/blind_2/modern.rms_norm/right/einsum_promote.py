# style: einsum for the squares, promote_types for the dtype, rsqrt
def rms_norm(x, weight, eps=1e-06):
    acc = torch.promote_types(x.dtype, torch.float32)
    z = x.to(acc)
    energy = torch.einsum("...e,...e->...", z, z) / z.shape[-1]
    z = z * torch.rsqrt(energy + eps)[..., None]
    return (z * weight.to(acc)).type_as(x)
