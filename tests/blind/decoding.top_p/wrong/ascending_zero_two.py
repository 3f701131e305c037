# sums from the least likely word upwards up to p + sets the removed logits to 0 instead of -inf
def top_p_filter(logits, p):
    values, index = logits.sort(dim=-1)              # ascending
    cum = values.softmax(dim=-1).cumsum(dim=-1)
    drop_sorted = cum <= p
    drop_sorted[..., -1] = False
    drop = drop_sorted.gather(-1, index.argsort(dim=-1))
    result = logits.clone()
    result[drop] = 0
    return result
