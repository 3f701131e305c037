import torch


def paged_attention(q, key_pages, value_pages, tables, lengths):
    size = key_pages.shape[1]
    results = []
    for query, table, length in zip(q, tables, lengths.tolist()):
        needed = table[: (length + size - 1) // size]
        keys = key_pages[needed].flatten(0, 1)[:length]
        values = value_pages[needed].flatten(0, 1)[:length]
        scores = (query[None] * keys).sum(-1) / query.shape[-1] ** 0.5
        results.append((scores.softmax(0)[..., None] * values).sum(0))
    return torch.stack(results)
