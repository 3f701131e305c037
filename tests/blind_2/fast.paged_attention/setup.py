import os

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

import tfkit
from tfkit.nn import masked_softmax, scaled_dot_product_attention
from tfkit.tools.memory import peak_bytes
from tfkit_lab import show

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # for the kernel at the end; read when triton is first imported
