# plain Python lists of dicts and sorted(), one hypothesis after the other
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    alive = [{"ids": [start_id], "lp": 0.0}]
    ended = []
    for _ in range(max_new_tokens):
        if len(alive) == 0:
            break
        prefixes = torch.tensor([hyp["ids"] for hyp in alive], dtype=torch.long)
        table = F.log_softmax(step(prefixes).double(), dim=-1).tolist()
        everything = []
        for hyp, row in zip(alive, table):
            for w, lp in enumerate(row):
                everything.append({"ids": hyp["ids"] + [w], "lp": hyp["lp"] + lp})
        everything = sorted(everything, key=lambda c: -c["lp"])[:beam_size]
        alive = []
        for c in everything:
            if c["ids"][-1] == end_id:
                ended.append(c)
            else:
                alive.append(c)

    def final_score(c):
        n = max(len(c["ids"]) - 1, 1)
        return c["lp"] / n ** length_penalty

    ranking = sorted(ended + alive, key=final_score, reverse=True)
    return [(c["ids"], final_score(c)) for c in ranking[:beam_size]]
