"""How a command speaks: its refusals and its errors, one line each."""
