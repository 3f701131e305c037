# step is taken to count from 0: uses step + 1
def noam_rate(step, d_model, warmup):
    s = step + 1
    return 1 / math.sqrt(d_model) * min(1 / math.sqrt(s), s / (warmup * math.sqrt(warmup)))
