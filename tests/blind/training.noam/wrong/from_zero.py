# adds 1 to the step, as if it counted from 0
class _Noam:
    def __init__(self, d_model, warmup):
        self.scale = d_model ** (-0.5)
        self.warmup = warmup

    def lr(self, step):
        s = step + 1
        return self.scale * min(s ** (-0.5), s * self.warmup ** (-1.5))


def noam_rate(step, d_model, warmup):
    return _Noam(d_model, warmup).lr(step)
