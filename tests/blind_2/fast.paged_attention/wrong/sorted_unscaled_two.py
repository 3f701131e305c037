# the pages are taken in the order of their numbers, not of the table + scores not divided by sqrt(D)
def paged_attention(q, key_pages, value_pages, tables, lengths):
    page_size = key_pages.shape[1]
    out = torch.zeros_like(q)
    for i, (table, n) in enumerate(zip(tables, lengths.tolist())):
        used = table[table != -1].sort().values
        ks = key_pages.index_select(0, used).flatten(0, 1)[:n]
        vs = value_pages.index_select(0, used).flatten(0, 1)[:n]
        logits = torch.einsum('hd,nhd->hn', q[i], ks)
        out[i] = torch.einsum('hn,nhd->hd', logits.softmax(-1), vs)
    return out
