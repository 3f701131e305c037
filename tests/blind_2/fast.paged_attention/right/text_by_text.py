# style: one text after the other, its pages concatenated and cut to its length
def paged_attention(q, key_pages, value_pages, tables, lengths):
    B, H, D = q.shape
    size = key_pages.shape[1]
    results = []
    for b in range(B):
        n = int(lengths[b])
        if n == 0:
            results.append(value_pages.new_zeros(H, D))
            continue
        needed = tables[b, : -(-n // size)]
        keys = torch.cat([key_pages[p] for p in needed.tolist()])[:n]  # [n,H,D]
        values = torch.cat([value_pages[p] for p in needed.tolist()])[:n]
        s = (keys * q[b]).sum(-1) / D**0.5  # [n,H]
        a = torch.softmax(s, dim=0)
        results.append((a[..., None] * values).sum(0))
    return torch.stack(results)
