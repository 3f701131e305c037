def span_corruption(tokens, spans, sentinels):
    if not spans:
        return list(tokens), [sentinels[0]]
    (start, end), *others = spans
    moved = [(a - end, b - end) for a, b in others]
    inputs, targets = span_corruption(tokens[end:], moved, sentinels[1:])
    return [*tokens[:start], sentinels[0], *inputs], [sentinels[0], *tokens[start:end], *targets]
