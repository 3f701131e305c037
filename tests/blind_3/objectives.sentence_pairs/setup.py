from itertools import pairwise

import torch
import torch.nn.functional as F
