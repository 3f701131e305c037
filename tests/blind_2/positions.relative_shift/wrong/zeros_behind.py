# the column of zeros is put behind instead of in front: everything moves one place too far
def relative_shift(scores):
    B, H, Q, R = scores.shape
    padded = F.pad(scores, (0, 1))
    padded = padded.reshape(B, H, R + 1, Q)
    return padded[:, :, 1:].reshape(B, H, Q, R)
