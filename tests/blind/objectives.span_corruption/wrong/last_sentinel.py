# ends the targets with the last sentinel of the list instead of the next unused one
def span_corruption(tokens, spans, sentinels):
    inp, tgt = [], []
    pos = 0
    names = iter(sentinels)
    for start, end in spans:
        s = next(names)
        inp += tokens[pos:start]
        inp.append(s)
        tgt.append(s)
        tgt += tokens[start:end]
        pos = end
    inp += tokens[pos:]
    tgt.append(sentinels[-1])
    return inp, tgt
