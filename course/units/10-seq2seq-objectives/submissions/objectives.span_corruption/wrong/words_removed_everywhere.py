"""When you remove a token in one place, you also remove it everywhere else in the text.

A span refers to positions, and the same token may stand at other positions, too.
"""


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
