# flattened to rows, each row a Python loop over its words from likely to unlikely
def top_p_filter(logits, p):
    flat = logits.reshape(-1, logits.shape[-1])
    out = torch.full_like(flat, float("-inf"))
    for i, row in enumerate(flat):
        probs = row.softmax(dim=0)
        total = 0.0
        for w in torch.argsort(row, descending=True, stable=True).tolist():
            out[i, w] = row[w]
            total += probs[w].item()
            if total >= p:
                break
    return out.reshape(logits.shape)
