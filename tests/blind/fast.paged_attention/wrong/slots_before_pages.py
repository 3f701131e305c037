# flattens the axes as (slot, page) instead of (page, slot), so the mask by length hides the wrong tokens
def paged_attention(q, key_pages, value_pages, tables, lengths):
    b, h, d = q.shape
    gather = lambda pages: pages[tables.clamp_min(0)].permute(0, 3, 2, 1, 4).reshape(b, h, -1, d)
    k, v = gather(key_pages), gather(value_pages)
    att = (k @ q[..., None]).squeeze(-1) / d ** 0.5
    hidden = torch.arange(k.shape[2], device=q.device) >= lengths[:, None, None]
    att = att.masked_fill(hidden, float("-inf"))
    att = torch.nan_to_num(att.softmax(-1))
    return (att[..., None, :] @ v).squeeze(-2)
