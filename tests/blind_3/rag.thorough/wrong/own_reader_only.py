# each proposal is scored only by the reader that proposed it, the other documents are left out of the sum
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    prior = torch.log_softmax(doc_scores, -1)
    answers = []
    for d in range(len(readers)):
        ids = [start_id]
        score = prior[d].item()
        while len(ids) <= max_new_tokens:
            lp = readers[d](torch.tensor([ids], device=doc_scores.device))[0].log_softmax(-1)
            nxt = lp.argmax().item()
            score += lp[nxt].item()
            ids.append(nxt)
            if nxt == end_id:
                break
        answers.append((ids, score))
    return max(answers, key=lambda a: a[1])
