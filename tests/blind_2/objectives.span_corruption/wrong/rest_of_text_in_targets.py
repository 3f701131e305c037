# the tokens behind the last span are written into the targets, too (the copied mistake with the full stop)
def span_corruption(tokens, spans, sentinels):
    inputs = list(tokens)
    targets = []
    for k in range(len(spans)):
        s, e = spans[k]
        targets += [sentinels[k]] + tokens[s:e]
    for k in range(len(spans) - 1, -1, -1):
        s, e = spans[k]
        inputs[s:e] = [sentinels[k]]
    if spans:
        targets += tokens[spans[-1][1]:]
    targets.append(sentinels[len(spans)])
    return inputs, targets
