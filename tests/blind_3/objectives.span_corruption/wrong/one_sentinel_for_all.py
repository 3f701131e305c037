# every span gets the same sentinel (like a mask token); only the end marker differs
def span_corruption(tokens, spans, sentinels):
    x = sentinels[0]
    inputs, targets = [], []
    pos = 0
    for start, end in spans:
        inputs += tokens[pos:start] + [x]
        targets += [x] + tokens[start:end]
        pos = end
    inputs += tokens[pos:]
    targets += [sentinels[1] if spans else x]
    return inputs, targets
