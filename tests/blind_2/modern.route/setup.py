import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

import tfkit
from tfkit.nn import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads
