# walks token by token and looks up which span a token belongs to
def span_corruption(tokens, spans, sentinels):
    owner = {}
    for k, (a, b) in enumerate(spans):
        for i in range(a, b):
            owner[i] = k
    inputs, targets = [], []
    last = None
    for i, tok in enumerate(tokens):
        k = owner.get(i)
        if k is None:
            inputs.append(tok)
        else:
            if k != last:
                inputs.append(sentinels[k])
                targets.append(sentinels[k])
            targets.append(tok)
        last = k
    targets.append(sentinels[len(spans)])
    return inputs, targets
