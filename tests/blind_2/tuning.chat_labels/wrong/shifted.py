# the labels are shifted by one (the next token's id)
def chat_labels(turns, end_id):
    ids = []
    is_assistant = []
    for role, t in turns:
        seq = list(t) + [end_id]
        ids += seq
        is_assistant += [role == "assistant"] * len(seq)
    labels = [ids[i + 1] if is_assistant[i + 1] else -100 for i in range(len(ids) - 1)] + [-100]
    return ids, labels
