# each token's page and place on it by division with remainder; only real tokens are ever read
def paged_attention(q, key_pages, value_pages, tables, lengths):
    page_size = key_pages.shape[1]
    out = torch.zeros_like(q)
    for b, length in enumerate(lengths.tolist()):
        if length == 0:
            continue
        t = torch.arange(length, device=tables.device)
        page = tables[b, t // page_size]
        slot = t % page_size
        keys, values = key_pages[page, slot], value_pages[page, slot]        # [n,H,D]
        scores = (keys * q[b]).sum(dim=-1) * q.shape[-1] ** -0.5             # [n,H]
        weights = torch.softmax(scores, dim=0)
        out[b] = (weights.unsqueeze(-1) * values).sum(dim=0)
    return out
