"""Your targets are only the missing words, one span after another.

Where does one span end and the next begin?"""


def span_corruption(tokens, spans, sentinels):
    inputs, targets, past = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels):
        inputs += [*tokens[past:start], sentinel]
        targets += tokens[start:end]
        past = end
    return [*inputs, *tokens[past:]], [*targets, sentinels[len(spans)]]
