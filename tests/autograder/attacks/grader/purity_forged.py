"""Changes its arguments in place, and has the process that is asked about them say that they are as they were.

Exercise: rnn.cell
Fails: leaves no trace"""

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

        def op_build(name, args, kwargs, build=thing.op_build):
            reference = build(name, args, kwargs)
            for value in args:
                if isinstance(value, torch.Tensor):
                    pristine[id(value)] = value.clone()
            return reference

        def op_call(target, args, kwargs, call=thing.op_call):
            if target[0] == "given_kept":
                return pristine.get(id(args[0]), args[0])
            return call(target, args, kwargs)

        thing.op_build, thing.op_call = op_build, op_call
        break
