def span_corruption(tokens, spans, sentinels):
    number = {place: n for n, (start, end) in enumerate(spans) for place in range(start, end)}
    starts = {start for start, _ in spans}
    inputs, targets = [], []
    for place, token in enumerate(tokens):
        if place not in number:
            inputs.append(token)
            continue
        if place in starts:
            inputs.append(sentinels[number[place]])
            targets.append(sentinels[number[place]])
        targets.append(token)
    return inputs, targets + [sentinels[len(spans)]]
