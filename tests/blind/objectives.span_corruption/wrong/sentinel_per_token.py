# one sentinel for every removed token in the inputs, like BERT's masks
def span_corruption(tokens, spans, sentinels):
    which = {}
    for k, (a, b) in enumerate(spans):
        for i in range(a, b):
            which[i] = k
    inputs = [sentinels[which[i]] if i in which else t for i, t in enumerate(tokens)]
    targets = []
    for k, (a, b) in enumerate(spans):
        targets += [sentinels[k]] + list(tokens[a:b])
    return inputs, targets + [sentinels[len(spans)]]
