# labels only the last answer of the conversation + the end_id of the answer has no label
def chat_labels(turns, end_id):
    last = -1
    for n, (role, _) in enumerate(turns):
        if role == "assistant":
            last = n
    ids, labels = [], []
    for n, (_, words) in enumerate(turns):
        for w in words:
            ids.append(w)
            labels.append(w if n == last else -100)
        ids.append(end_id)
        labels.append(-100)
    return ids, labels
