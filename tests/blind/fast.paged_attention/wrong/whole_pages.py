# reads every page with a number >= 0 completely and does not look at the lengths
def paged_attention(q, key_pages, value_pages, tables, lengths):
    outs = []
    for b in range(q.shape[0]):
        pages = tables[b][tables[b] >= 0]
        K = key_pages[pages].flatten(0, 1).transpose(0, 1)        # [H,n,D]
        V = value_pages[pages].flatten(0, 1).transpose(0, 1)
        s = K @ q[b].unsqueeze(-1) / q.shape[-1] ** 0.5
        w = torch.softmax(s, dim=1)
        outs.append((w * V).sum(1))
    return torch.stack(outs)
