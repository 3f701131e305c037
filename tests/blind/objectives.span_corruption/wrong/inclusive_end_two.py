# takes the end as part of the span + forgets the closing sentinel
def span_corruption(tokens, spans, sentinels):
    starts = {s: (e, sentinels[n]) for n, (s, e) in enumerate(spans)}
    inputs = []
    targets = []
    i = 0
    while i < len(tokens):
        if i in starts:
            end, mark = starts[i]
            inputs.append(mark)
            targets.append(mark)
            for j in range(i, min(end + 1, len(tokens))):
                targets.append(tokens[j])
            i = end + 1
        else:
            inputs.append(tokens[i])
            i += 1
    return inputs, targets
