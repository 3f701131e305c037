# the end of a span is taken as inclusive + in the targets the sentinel stands after its span
def span_corruption(tokens, spans, sentinels):
    inp, tgt, prev = [], [], 0
    for n, span in enumerate(spans):
        begin, end = span[0], span[1] + 1
        inp.extend(tokens[prev:begin])
        inp.append(sentinels[n])
        tgt.extend(tokens[begin:end])
        tgt.append(sentinels[n])
        prev = end
    inp.extend(tokens[prev:])
    tgt.append(sentinels[len(spans)])
    return inp, tgt
