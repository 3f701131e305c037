import math

import torch
from torch import nn
from torch.nn import functional as F

from tfkit.nn import scaled_dot_product_attention, causal_mask, padding_mask, decoder_mask, masked_softmax
