# takes exp of the log-sum-exps directly, which overflows for large ones
def merge_attention(o1, lse1, o2, lse2):
    z1, z2 = lse1.exp(), lse2.exp()
    z = z1 + z2
    z_safe = torch.where(z > 0, z, torch.ones_like(z))
    o = (z1[..., None] * o1 + z2[..., None] * o2) / z_safe[..., None]
    return o, z.log()
