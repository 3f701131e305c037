# goes through NumPy, so the tables get no gradient + e2's part stands before e1's
import numpy as np

def axial_positions(e1, e2):
    a = e1.detach().cpu().numpy()
    b = e2.detach().cpu().numpy()
    fast = np.tile(a, (b.shape[0], 1))
    slow = np.repeat(b, a.shape[0], axis=0)
    return torch.from_numpy(np.concatenate([slow, fast], axis=1))
