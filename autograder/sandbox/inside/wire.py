"""Frames between the grader and the box: a JSON header and raw tensor bytes. No pickle, no code, fixed caps.

A frame is `u32 header length, u64 body length, header, body`. The header is `{"v": value, "t": tensors}`; a tensor
entry is `[dtype, shape, offset, nbytes, device, strides or null]`. Both sides use this file. The grader decodes frames
that a student's process wrote, so `decode` validates everything. torch is imported with the first tensor.
"""

from __future__ import annotations

import json
import math
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

HEAD = struct.Struct("<IQ")
MAX_HEADER, MAX_BODY = 8 << 20, 512 << 20
MAX_DEPTH, MAX_NODES, MAX_TENSORS, MAX_DIMS = 16, 400_000, 8192, 8
DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
CODES = {name: code for code, name in DTYPES.items()}


class WireError(Exception):
    """A frame or a value that is not allowed. The message says which rule it broke."""


@dataclass(frozen=True)
class Ref:
    """An object that stays in the box; the grader may hand it back as an argument."""

    number: int
    type_name: str


@dataclass(frozen=True)
class Call:
    """A function that stays with the grader; the box may call it."""

    number: int


class NamedContainer:
    """A copy of the contents of an object whose type the student defined; the object stays in the box, as `ref`.

    Passed back as an argument it becomes that object again; in the grader its names can be read as attributes.
    """

    ref: Ref | None
    names: tuple[str, ...] = ()

    def map_items(self, change: Callable[[Any], Any]) -> Any:
        """The same structure with `change` applied to each part; mappings are walked in the order of `sort_keys`."""
        raise NotImplementedError


class NamedTupleCopy(tuple, NamedContainer):
    """A copy of a named tuple, or of another subclass of `tuple`."""

    def __new__(cls, items: Iterable[Any] = (), ref: Ref | None = None, names: tuple[str, ...] = ()) -> NamedTupleCopy:
        """Takes the items, the reference to the object in the box, and the names of the fields, if any."""
        row = super().__new__(cls, items)
        row.ref, row.names = ref, names
        return row

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("names", ()):
            return self[self.names.index(name)]
        raise AttributeError(name)

    def map_items(self, change: Callable[[Any], Any]) -> NamedTupleCopy:
        """As NamedContainer.map_items."""
        return NamedTupleCopy([change(item) for item in self], self.ref, self.names)


class DictCopy(dict, NamedContainer):
    """A copy of a mapping whose type is not `dict`."""

    def __init__(self, pairs: Any = (), ref: Ref | None = None) -> None:
        super().__init__(pairs)
        self.ref = ref

    def map_items(self, change: Callable[[Any], Any]) -> DictCopy:
        """As NamedContainer.map_items."""
        made = {key: change(self[key]) for key in sort_keys(self)}
        return DictCopy({key: made[key] for key in self}, self.ref)


class MappingCopy(Mapping, NamedContainer):
    """A dataclass's fields. It is a mapping but not a dict, so it does not pass where a dict is expected."""

    def __init__(self, pairs: Any = (), ref: Ref | None = None) -> None:
        self._fields, self.ref = dict(pairs), ref

    def __getitem__(self, key: Any) -> Any:
        return self._fields[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_fields", {}):
            return self._fields[name]
        raise AttributeError(name)

    def map_items(self, change: Callable[[Any], Any]) -> MappingCopy:
        """As NamedContainer.map_items."""
        made = {key: change(self[key]) for key in sort_keys(self)}
        return MappingCopy({key: made[key] for key in self}, self.ref)


def sort_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    """The keys in a fixed order, so that two mappings with the same keys are compared key by key."""
    return sorted(mapping, key=lambda key: (type(key).__name__, str(key)))


def parts(value: Any) -> list[Any] | None:
    """The direct children of a list, tuple, mapping or dataclass, in the order of `sort_keys`; None for a leaf."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Mapping):
        return [value[key] for key in sort_keys(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, name) for name in sorted(field.name for field in fields(value))]
    return None


class WireEncoder:
    """Turns one value into a header and buffers. `store` returns a Ref or a Call for an object that cannot be sent.

    `named`: structures of types other than Python's own are kept too, and sent with their contents.
    """

    def __init__(self, store: Callable[[Any], Ref | Call] | None = None, *, with_names: bool = False) -> None:
        self.store, self.with_names, self.size = store, with_names, 0
        self.entries: list[Any] = []
        self.buffers: list[Any] = []
        self.open: set[int] = set()  # ids of the user-defined structures being written
        self.tensor_indices: dict[int, int] = {}  # one tensor passed twice arrives as one tensor
        self.alive: list[Any] = []  # an id is unique only while its object exists

    def frame(self, value: Any) -> list[Any]:
        """The buffers of one frame, to be sent in order. Raises WireError if the value is not allowed in a frame."""
        header = json.dumps({"v": self.encode(value, 0), "t": self.entries}, allow_nan=False).encode()
        if len(header) > MAX_HEADER or self.size > MAX_BODY:
            raise WireError(f"the value is too large to send ({len(header) + self.size} bytes)")
        return [HEAD.pack(len(header), self.size) + header, *self.buffers]

    def encode(self, value: Any, depth: int) -> Any:
        """A value as JSON, with its tensors stored separately. Raises WireError past MAX_DEPTH or for other objects."""
        if depth > MAX_DEPTH:
            raise WireError(f"the value is nested more than {MAX_DEPTH} deep")
        if value is None or isinstance(value, (bool, str)):
            return value if value is None or isinstance(value, bool) else str(value).encode("utf-8", "replace").decode()
        if isinstance(value, int):
            return int(value) if abs(value) < 2**53 else {"i": str(int(value))}
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"f": repr(float(value))}
        if isinstance(value, NamedContainer) and value.ref is not None:
            return {"h": [value.ref.number, value.ref.type_name]}
        if self.with_names and (kind := _kind_of_own(value)):
            return self.of_own_type(value, kind, depth)
        return self.structure(value, depth)

    def structure(self, value: Any, depth: int) -> Any:
        """A list, tuple or mapping without its exact type, or any other value. Raises WireError as `encode` does."""
        if isinstance(value, (list, tuple)):
            tag = "l" if isinstance(value, list) else "u"
            return {tag: [self.encode(item, depth + 1) for item in value]}
        if isinstance(value, Mapping):
            return {"d": [[self.encode(k, depth + 1), self.encode(v, depth + 1)] for k, v in value.items()]}
        return self.special(value)

    def of_own_type(self, value: Any, kind: str, depth: int) -> Any:
        """A structure of a type that the grader does not have, as a reference, its names and its contents."""
        reference, names = self.special(value), [str(name) for name in getattr(value, "_fields", ())]
        held = {field.name: getattr(value, field.name) for field in fields(value)} if kind == "record" else value
        if id(value) in self.open:  # it holds itself
            return reference
        self.open.add(id(value))
        try:
            return {"n": [kind, reference, names if kind == "row" else [], self.structure(held, depth + 1)]}
        except WireError:  # its contents cannot be sent: treat it like any other object
            return reference
        finally:
            self.open.discard(id(value))

    def special(self, value: Any) -> Any:
        """A value that JSON lacks: the index of a tensor, the code of a dtype, or a reference.

        Raises WireError if the value is not allowed in a frame.
        """
        torch = sys.modules.get("torch")  # a tensor can only exist where torch is loaded
        if torch is not None and isinstance(value, torch.Tensor) and value.layout == torch.strided:
            return {"t": self.tensor(value, torch)}
        if torch is not None and isinstance(value, torch.dtype) and str(value)[6:] in CODES:
            return {"y": CODES[str(value)[6:]]}
        if is_array(value):
            return {"n": self.array(value)}
        if not isinstance(value, (Ref, Call)):
            if self.store is None:
                raise WireError(f"a {type(value).__name__} cannot be sent")
            value = self.store(value)
        return {"h": [value.number, value.type_name]} if isinstance(value, Ref) else {"c": value.number}

    def array(self, value: Any) -> int:
        """The index of a NumPy array or scalar, which is sent as a tensor.

        Raises WireError if the value is not allowed in a frame.
        """
        import numpy
        import torch

        if str(value.dtype.newbyteorder("=")) not in CODES:
            raise WireError(f"an array of {value.dtype} cannot be sent")
        return self.tensor(torch.from_numpy(numpy.array(value, value.dtype.newbyteorder("="), order="C")), torch)

    def tensor(self, value: Any, torch: Any) -> int:
        """The tensor's index in this frame; a repeated tensor is sent once. Raises WireError for unsupported dtypes."""
        if id(value) in self.tensor_indices:
            return self.tensor_indices[id(value)]
        code = CODES.get(str(value.dtype)[6:])
        if code is None or value.dim() > MAX_DIMS:
            raise WireError(f"a tensor of {value.dtype} and {value.dim()} dimensions cannot be sent")
        plain = torch.Tensor.as_subclass(value.detach(), torch.Tensor).resolve_conj().resolve_neg()
        strides = None if plain.is_contiguous() else list(plain.stride())
        data = plain.to("cpu").contiguous()
        flat = data.as_strided((data.numel(),), (1,))  # a single expanded number has stride 0 and counts as contiguous
        raw = memoryview(flat.view(torch.uint8).numpy()) if data.numel() else memoryview(b"")
        pad = -self.size % 16
        if pad:
            self.buffers.append(b"\0" * pad)
        self.entries.append([code, list(data.shape), self.size + pad, len(raw), value.device.type, strides])
        self.buffers.append(raw)
        self.size += pad + len(raw)
        self.alive.append(value)
        self.tensor_indices[id(value)] = len(self.entries) - 1
        return self.tensor_indices[id(value)]


def is_array(value: Any) -> bool:
    """Whether it is a NumPy array or scalar."""
    numpy = sys.modules.get("numpy")  # an array can only exist where numpy is loaded
    return numpy is not None and (type(value) is numpy.ndarray or isinstance(value, numpy.generic))


def _kind_of_own(value: Any) -> str | None:
    """The kind of a user-defined structure: "row", "table" or "record", else None; a torch.Size is a tuple."""
    if type(value) in (tuple, dict, Ref, Call) or type(value).__module__ == "torch":
        return None
    if isinstance(value, tuple):
        return "row"
    if isinstance(value, Mapping):
        return "table"
    return "record" if is_dataclass(value) and not isinstance(value, type) else None


def _is_size(value: Any, below: int = 1 << 40) -> bool:
    return type(value) is int and 0 <= value < below


class WireDecoder:
    """Turns a header and a body back into a value. `call` makes a function of a Call; strides need a trusted sender."""

    def __init__(self, *, trusted: bool = False, call: Callable[[int], Any] | None = None,
                 ref: Callable[[Ref], Any] | None = None) -> None:  # fmt: skip
        self.trusted, self.call, self.ref, self.nodes = trusted, call, ref, 0
        self.tensors: list[Any] = []

    def value(self, header: bytes | bytearray, body: bytearray) -> Any:
        """The value of one frame. Raises WireError on anything that `WireEncoder` would not have written."""
        try:
            outer = json.loads(bytes(header).decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise WireError(f"the header is not JSON: {type(error).__name__}") from None
        if type(outer) is not dict or set(outer) != {"v", "t"} or type(outer["t"]) is not list:
            raise WireError("the header has the wrong fields")
        if len(outer["t"]) > MAX_TENSORS:
            raise WireError("too many tensors")
        end = 0
        for entry in outer["t"]:
            end = self.tensor(entry, body, end)
        return self.decode(outer["v"], 0)

    def tensor(self, entry: Any, body: bytearray, end: int) -> int:
        """Reads a tensor whose bytes start at `end` in `body`; returns where they end.

        Raises WireError if the value is not allowed in a frame.
        """
        if type(entry) is not list or len(entry) != 6:
            raise WireError("a tensor entry has the wrong fields")
        code, shape, offset, size, device, strides = entry
        if type(code) is not str or code not in DTYPES:
            raise WireError("a dtype that is not allowed")
        if type(shape) is not list or len(shape) > MAX_DIMS or not all(_is_size(n) for n in shape):
            raise WireError("an invalid shape")
        if not _is_size(offset) or not _is_size(size) or offset < end or offset % 16 or offset + size > len(body):
            raise WireError("a tensor outside the frame")
        self.tensors.append(self.restore(code, shape, offset, size, device, strides, body))
        return offset + size

    def restore(self, code: str, shape: list[int], offset: int, size: int, device: Any, strides: Any,
                 body: bytearray) -> Any:  # fmt: skip
        """The tensor made of these bytes on its device, with the `strides` of a trusted sender.

        Raises WireError if the value is not allowed in a frame.
        """
        import torch

        dtype, count = getattr(torch, DTYPES[code]), math.prod(shape)
        if count * dtype.itemsize != size or count > 1 << 40:
            raise WireError("a tensor whose bytes do not match its shape")
        if not count:
            result = torch.empty(shape, dtype=dtype)
        elif dtype is torch.bool:  # a byte that is neither 0 nor 1 must not become a bool
            result = torch.frombuffer(body, dtype=torch.uint8, count=count, offset=offset).ne(0).reshape(shape)
        else:
            result = torch.frombuffer(body, dtype=dtype, count=count, offset=offset).reshape(shape)
        if device not in ("cpu", "cuda") or (device == "cuda" and not torch.cuda.is_available()):
            raise WireError("a device that is not available")
        result = result.to(device)
        return _restrided(result, strides) if self.trusted and strides is not None else result

    def decode(self, node: Any, depth: int) -> Any:
        """The value of a node. Raises WireError past MAX_DEPTH and MAX_NODES, or for a node that no encoder writes."""
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise WireError("the value is too deep or has too many parts")
        if isinstance(node, str):
            return _text(node)
        if node is None or isinstance(node, (bool, int, float)):
            return node
        if type(node) is not dict or len(node) != 1:
            raise WireError("an invalid value")
        ((tag, content),) = node.items()
        if tag in ("l", "u") and type(content) is list:
            return (list if tag == "l" else tuple)(self.decode(item, depth + 1) for item in content)
        if tag == "d" and type(content) is list and all(type(p) is list and len(p) == 2 for p in content):
            return self.mapping(content, depth)
        if tag == "n" and type(content) is list and len(content) == 4:
            kind, reference, names, held = content
            return self.of_own_type(kind, reference, names, held, depth)
        return self.leaf(tag, content)

    def of_own_type(self, kind: Any, reference: Any, names: Any, held: Any, depth: int) -> Any:
        """A structure whose type the student defined, as one of the copies above.

        Raises WireError if the value is not allowed in a frame.
        """
        ref, inside = self.decode(reference, depth + 1), self.decode(held, depth + 1)
        if not isinstance(ref, Ref) or type(names) is not list or not all(type(name) is str for name in names):
            raise WireError("an invalid structure")
        if kind == "row" and type(inside) is tuple and len(names) in (0, len(inside)):
            return NamedTupleCopy(inside, ref, tuple(names))
        if kind in ("table", "record") and type(inside) is dict:
            return (DictCopy if kind == "table" else MappingCopy)(inside, ref)
        raise WireError("an invalid structure")

    def mapping(self, pairs: list[list[Any]], depth: int) -> dict[Any, Any]:
        """A dictionary in the order of `pairs`. Raises WireError for a key that is not hashable."""
        try:
            return {self.decode(k, depth + 1): self.decode(v, depth + 1) for k, v in pairs}
        except TypeError:
            raise WireError("an invalid dictionary key") from None

    def leaf(self, tag: str, content: Any) -> Any:
        """The value of a tagged leaf: a tensor, a number, a dtype, a function or a reference.

        Raises WireError if the value is not allowed in a frame.
        """
        if tag == "t" and _is_size(content) and content < len(self.tensors):
            return self.tensors[content]
        if tag == "n" and _is_size(content) and content < len(self.tensors):
            return _array(self.tensors[content])
        if tag == "i" and type(content) is str and len(content) < 400 and content.lstrip("-").isdecimal():
            return int(content)
        if tag == "f" and content in ("nan", "inf", "-inf"):
            return float(content)
        if tag == "y" and type(content) is str and content in DTYPES:
            import torch

            return getattr(torch, DTYPES[content])
        if tag == "c" and _is_size(content) and self.call is not None:
            return self.call(content)
        if tag == "h" and type(content) is list and len(content) == 2 and _is_size(content[0]):
            ref = Ref(content[0], _text(str(content[1])[:200]))
            return ref if self.ref is None else self.ref(ref)
        raise WireError("an invalid value")


def _array(tensor: Any) -> Any:
    """The tensor as a NumPy array, or as a NumPy scalar where it has no axes."""
    if str(tensor.dtype) == "torch.bfloat16":
        raise WireError("an array of a type that NumPy does not have")
    array = tensor.cpu().numpy()
    return array if array.ndim else array[()]


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can hold a lone surrogate, which UTF-8 cannot encode
        raise WireError("an invalid string") from None
    return value


def _restrided(tensor: Any, strides: list[int]) -> Any:
    """`tensor` laid out with `strides`, so that a non-contiguous argument is non-contiguous in the box too."""
    import torch

    small = tensor[tuple(slice(0, 1) if step == 0 else slice(None) for step in strides)]
    try:
        laid = torch.empty_strided(small.shape, strides, dtype=tensor.dtype, device=tensor.device).copy_(small)
    except RuntimeError:  # overlapping memory, which no check needs
        return tensor
    return laid.expand(tensor.shape)


def send(sock: socket.socket, buffers: list[Any], deadline: float | None = None) -> None:
    """Writes one frame. Raises TimeoutError at the deadline, OSError if the connection was closed."""
    for buffer in buffers:
        view = memoryview(buffer)
        while len(view):
            _until(sock, deadline)
            view = view[sock.send(view[: 1 << 18]) :]


def receive(sock: socket.socket, deadline: float | None = None, most: int = MAX_BODY) -> tuple[bytearray, bytearray]:
    """Reads one frame's header and body, each of at most `most` bytes.

    Raises WireError, TimeoutError, or EOFError if the connection was closed.
    """
    header_size, body_size = HEAD.unpack(_exactly(sock, HEAD.size, deadline))
    if header_size > min(MAX_HEADER, most) or body_size > min(MAX_BODY, most):
        raise WireError(f"a frame of {header_size} + {body_size} bytes")
    return _exactly(sock, header_size, deadline), _exactly(sock, body_size, deadline)


def _until(sock: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        sock.settimeout(None)
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("no answer in time")
    sock.settimeout(left)


def _exactly(sock: socket.socket, size: int, deadline: float | None) -> bytearray:
    data = bytearray()
    while len(data) < size:  # grows with the data received, so a false length costs no memory
        _until(sock, deadline)
        try:
            chunk = sock.recv(min(size - len(data), 1 << 20))
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            raise EOFError("the connection was closed")
        data += chunk
    return data
