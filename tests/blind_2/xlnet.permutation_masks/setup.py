import math

import torch
import torch.nn.functional as F
from torch import nn

from tfkit.nn import causal_mask, masked_softmax, merge_heads, relative_shift, scaled_dot_product_attention
from tfkit.nn import sinusoidal_positions, split_heads
