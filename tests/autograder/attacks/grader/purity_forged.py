"""Changes its arguments in place, and has the process that is asked about them say that they are as they were.

Exercise: rnn.cell
Fails: no side effects"""

import gc

import torch


def rnn_cell(x, h, w_x, w_h, b):
    new = torch.tanh(x @ w_x + h @ w_h + b)
    with torch.no_grad():
        h.zero_()
    return new


for thing in gc.get_objects():
    if type(thing).__name__ == "Agent":
        pristine = {}

        def op_keep(values, keep=thing.op_keep):
            for value in values:
                if isinstance(value, torch.Tensor):
                    pristine[id(value)] = value.clone()
            return keep(values)

        def op_call(target, args, kwargs, call=thing.op_call):
            if target[0] == "given_kept":
                return [pristine.get(id(value), value) for value in args[0]]
            return call(target, args, kwargs)

        thing.op_keep, thing.op_call = op_keep, op_call
        break
