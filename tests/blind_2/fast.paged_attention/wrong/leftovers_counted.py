# all slots of a text's pages count, also those after its last token
def paged_attention(q, key_pages, value_pages, tables, lengths):
    S = key_pages.shape[1]
    outs = []
    for b in range(len(q)):
        pages = tables[b][tables[b] >= 0]
        k = key_pages[pages].flatten(0, 1).transpose(0, 1)  # [H,N,D]
        v = value_pages[pages].flatten(0, 1).transpose(0, 1)
        o, _ = scaled_dot_product_attention(q[b].unsqueeze(1), k, v)
        outs.append(o.squeeze(1))
    return torch.stack(outs)
