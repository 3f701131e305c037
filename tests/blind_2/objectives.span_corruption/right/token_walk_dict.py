# walks through the tokens once, with a dict from position to span number
def span_corruption(tokens, spans, sentinels):
    owner = {}
    for n, (a, b) in enumerate(spans):
        for p in range(a, b):
            owner[p] = n
    inputs, targets = [], []
    current = None
    for p, tok in enumerate(tokens):
        n = owner.get(p)
        if n is None:
            inputs.append(tok)
        else:
            if n != current:
                inputs.append(sentinels[n])
                targets.append(sentinels[n])
            targets.append(tok)
        current = n
    targets.append(sentinels[len(spans)])
    return inputs, targets
