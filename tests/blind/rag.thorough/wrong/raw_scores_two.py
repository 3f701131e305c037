# adds the document scores without the softmax + of equal proposals takes the last one
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    answer, answer_score = None, -math.inf
    for reader in readers:
        y = torch.tensor([[start_id]])
        for step in range(max_new_tokens):
            nxt = reader(y).argmax(dim=-1, keepdim=True)
            y = torch.cat([y, nxt], dim=1)
            if nxt.item() == end_id:
                break
        per_doc = []
        for d in range(len(readers)):
            lp = doc_scores[d]
            for t in range(y.shape[1] - 1):
                lp = lp + readers[d](y[:, :t + 1]).log_softmax(-1)[0, y[0, t + 1]]
            per_doc.append(lp)
        score = torch.logsumexp(torch.stack(per_doc), 0).item()
        if score >= answer_score:
            answer, answer_score = y[0].tolist(), score
    return answer, answer_score
