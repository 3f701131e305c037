import math

import torch
import torch.nn.functional as F
from torch import nn

from tfkit.nn import causal_mask, masked_softmax, merge_heads, split_heads
