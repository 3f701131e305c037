"""Your spans include their end: one token too many is taken away each time.

`[start, end)` is Python's own way to count: `end` is the first that stays."""


def span_corruption(tokens, spans, sentinels):
    inputs, targets, past = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels):
        inputs += [*tokens[past:start], sentinel]
        targets += [sentinel, *tokens[start : end + 1]]
        past = end + 1
    return [*inputs, *tokens[past:]], [*targets, sentinels[len(spans)]]
