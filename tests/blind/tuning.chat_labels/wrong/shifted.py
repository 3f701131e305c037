# shifts the labels by one to the left, as for next-token prediction
def chat_labels(turns, end_id):
    ids = sum(([*t, end_id] for _, t in turns), [])
    is_answer = sum(([r == "assistant"] * (len(t) + 1) for r, t in turns), [])
    labels = [i if a else -100 for i, a in zip(ids, is_answer)]
    return ids, labels[1:] + [-100]
