import math

import torch
import torch.nn.functional as F
from torch import nn

from tfkit.nn import merge_heads, scaled_dot_product_attention, split_heads
