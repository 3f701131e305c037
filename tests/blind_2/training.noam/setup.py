import math

import torch
import torch.nn.functional as F
from torch import nn
