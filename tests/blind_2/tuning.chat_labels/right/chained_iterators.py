# style: list comprehensions over (id, label) pairs, unzipped at the end
def chat_labels(turns, end_id):
    pairs = [
        (token, token if role == "assistant" else -100)
        for role, tokens in turns
        for token in [*tokens, end_id]
    ]
    return [i for i, _ in pairs], [l for _, l in pairs]
