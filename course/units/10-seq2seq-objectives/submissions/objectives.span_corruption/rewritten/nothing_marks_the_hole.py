def span_corruption(tokens, spans, sentinels):
    first = {start: n for n, (start, _) in enumerate(spans)}
    gone = {place for start, end in spans for place in range(start, end)}
    inputs, targets = [], []
    for place, token in enumerate(tokens):
        if place in first:
            targets.append(sentinels[first[place]])
        (targets if place in gone else inputs).append(token)
    return inputs, targets + [sentinels[len(spans)]]
