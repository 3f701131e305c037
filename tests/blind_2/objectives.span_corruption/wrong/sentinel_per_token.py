# one sentinel for each removed token instead of one for the span
def span_corruption(tokens, spans, sentinels):
    removed = set()
    for start, end in spans:
        removed.update(range(start, end))
    inp = []
    tgt = []
    k = 0
    for i, t in enumerate(tokens):
        if i in removed:
            inp.append(sentinels[k % len(sentinels)])
            tgt.append(sentinels[k % len(sentinels)])
            tgt.append(t)
            k += 1
        else:
            inp.append(t)
    tgt.append(sentinels[k % len(sentinels)])
    return inp, tgt
