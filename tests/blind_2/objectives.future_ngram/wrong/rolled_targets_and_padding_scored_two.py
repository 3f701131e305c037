# the targets are rolled, so the last positions must predict the first words + padding counts
def future_ngram_loss(logits, targets, pad_id):
    streams = []
    for n, stream in enumerate(logits):
        goal = torch.roll(targets, shifts=-n, dims=1)
        streams.append(F.cross_entropy(stream.permute(0, 2, 1), goal))
    return sum(streams) / len(streams)
