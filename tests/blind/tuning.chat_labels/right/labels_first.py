# (id, label) pairs from a generator, taken apart at the end
def chat_labels(turns, end_id):
    def pairs():
        for role, words in turns:
            learn = role == "assistant"
            for token in (*words, end_id):
                yield token, (token if learn else -100)

    both = list(pairs())
    return [token for token, _ in both], [label for _, label in both]
