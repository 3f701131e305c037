def chat_labels(turns, end_id):
    pairs = [(word, role == "assistant") for role, words in turns for word in [*words, end_id]]
    return [word for word, _ in pairs], [word if learned else -100 for word, learned in pairs]
