# mixes the documents at every token (RAG-token) instead of whole answers
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    p_doc = torch.softmax(doc_scores, -1)

    def greedy(read):
        out = [start_id]
        for _ in range(max_new_tokens):
            out.append(read(torch.tensor([out])).argmax(-1).item())
            if out[-1] == end_id:
                return out
        return out

    def log_p(ids):
        total = 0.0
        for t in range(1, len(ids)):
            prefix = torch.tensor([ids[:t]])
            probs = torch.stack([r(prefix)[0].softmax(-1)[ids[t]] for r in readers])
            total += torch.log((p_doc * probs).sum()).item()
        return total

    proposals = [greedy(r) for r in readers]
    scores = [log_p(y) for y in proposals]
    i = scores.index(max(scores))
    return proposals[i], scores[i]
