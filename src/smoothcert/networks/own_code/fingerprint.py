"""A digest of whatever decides a model's answers: code, values, arrays, and what these refer to by name."""

from __future__ import annotations

import contextlib
import copyreg
import hashlib
import logging
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules import module as torch_module
from torch.utils.hooks import RemovableHandle

from smoothcert.networks.own_code.installed import is_installed, is_installed_module, package_text
from smoothcert.networks.own_code.user_code import attribute_names, closure_values, global_names
from smoothcert.networks.weights_digest import tensor_content

_DEPTH = 200  # of what holds what; Python's own stack is 1,000 calls deep, and a level takes two
_PLAIN = (str, bytes, int, float, complex, bool, type(None))
_TOLD = (
    np.generic,
    Decimal,
    Fraction,
    torch.dtype,
    torch.device,
    slice,
    range,
    bytearray,
)  # wholly by their text
_HELD = (*_PLAIN, *_TOLD, tuple, list, dict, torch.Tensor, np.ndarray)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, partial)
_CONTAINERS = (dict, MappingProxyType, list, tuple, deque, OrderedDict)
# A handle numbers the hooks of its process.
_WITHOUT_CONTENT = (type(threading.Lock()), type(threading.RLock()), weakref.ref, RemovableHandle)
# What torch keeps in every module, and notes in one that was compiled.
_OWN = frozenset(vars(nn.Module())) | {"_is_torch_compile", "_compile_kwargs"}
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")
_GLOBAL_HOOKS = ("_global_forward_pre_hooks", "_global_forward_hooks")


class Fingerprint:
    """Digests of values by their content. Not of how often one object is held: copies count like the original.

    What belongs to an installed package goes by name and release, everything else by its code; functions bring the
    global variables and modules that they name. `settled` is False once code of the user's own was met, which can
    decide its answers by more than can be followed, or something that shows no content.

    Args:
        digest_of: the weights digest of a module.
        places: whether it matters in which module a user's class stands; not, where code may be moved.
    """

    def __init__(self, digest_of: Callable[[nn.Module], str], *, places: bool = True) -> None:
        self.settled, self._places = True, places
        self._digest_of = digest_of
        self._path: set[int] = set()
        self._known: dict[
            int, tuple[Any, bytes]
        ] = {}  # with the value, so that no other takes its place in memory

    def text(self, value: Any) -> str:
        """Return the digest of a value, 16 hex digits."""
        return self._of(value).hex()[:16]

    def _of(self, value: Any) -> bytes:
        digest = hashlib.sha256(type(value).__qualname__.encode() + b"|")
        if isinstance(value, torch.Tensor):
            raw = tensor_content(value)
            self.settled = self.settled and raw is not None
            digest.update(f"{value.dtype}{_shape(value)}".encode() + (raw or b""))
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            digest.update(f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
        elif type(value) in _PLAIN or isinstance(value, _TOLD):
            digest.update(repr(value).encode())
        elif isinstance(value, Enum):  # a class of its own with much that differs from process to process
            place = type(value).__module__ if self._places or is_installed(type(value)) else ""
            digest.update(f"{place}.{value!r}".encode())
        elif id(value) in self._known:
            return self._known[id(value)][1]
        elif id(value) in self._path:  # what holds itself adds nothing again
            digest.update(b"again")
        elif len(self._path) > _DEPTH:
            self.settled = False
        else:
            self._path.add(id(value))
            for part in self._parts(value):
                digest.update(self._of(part))
            self._path.remove(id(value))
            self._known[id(value)] = (value, digest.digest())
        return digest.digest()

    def _parts(self, value: Any) -> Iterable[Any]:
        """Return what a container, function, module or object is made of, in a stable order."""
        if isinstance(value, nn.Module):
            return self._module_parts(value)
        if isinstance(value, CodeType):
            return (value.co_code, value.co_names, value.co_varnames, value.co_freevars, value.co_consts)
        if isinstance(value, type | FunctionType) and not is_installed(value):
            self.settled = False
        if isinstance(value, type):
            place = value.__module__ if self._places or is_installed(value) else ""
            return (place, value.__qualname__, package_text(value), list(_code_of(value)))
        if isinstance(value, FunctionType) and not is_installed(value):
            defaults = (value.__defaults__, value.__kwdefaults__)
            held = (closure_values(value), _named_globals(value), vars(value))
            return (value.__code__, *defaults, *held)
        if isinstance(value, FunctionType | BuiltinFunctionType):
            owner = getattr(value, "__self__", None)
            about = owner.__name__ if isinstance(owner, ModuleType) else owner
            return (getattr(value, "__module__", None), value.__qualname__, package_text(value), about)
        if isinstance(value, MethodType):
            return (value.__func__, value.__self__)
        if isinstance(value, partial):
            return (value.func, value.args, value.keywords)
        return self._container_parts(value)

    def _container_parts(self, value: Any) -> Iterable[Any]:
        if isinstance(value, dict | MappingProxyType):
            content = [part for item in value.items() for part in item]
            return content if type(value) in _CONTAINERS else (content, *self._own_parts(value))
        if isinstance(value, list | tuple | deque):
            return value if type(value) in _CONTAINERS else (list(value), *self._own_parts(value))
        if isinstance(value, np.ndarray):
            return (value.shape, value.reshape(-1).tolist())
        if isinstance(value, set | frozenset):
            return sorted(self._of(part) for part in value)
        if isinstance(value, logging.Logger):  # whose handlers are the process's, not the model's
            return (value.name,)
        if isinstance(value, ModuleType):
            return (value.__name__, package_text(value))
        if isinstance(value, property | classmethod | staticmethod):
            return (getattr(value, "__func__", None), getattr(value, "fget", None))
        if isinstance(value, _WITHOUT_CONTENT):
            return ()
        return self._object_parts(value)

    def _own_parts(self, value: Any) -> tuple[Any, ...]:
        """Return an object's class and what it holds by name."""
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        held = {
            name: getattr(value, name, None) for name in slots if isinstance(name, str) and name[:2] != "__"
        }
        name = getattr(value, "__name__", None)  # of what C made: a ufunc, a slot
        factory = getattr(value, "default_factory", None)  # of a defaultdict
        return (name, type(value), {**held, **getattr(value, "__dict__", {})}, factory)

    def _object_parts(self, value: Any) -> Iterable[Any]:
        try:
            # Also what C code keeps; Python refuses where it cannot know.
            reduce = copyreg.dispatch_table.get(type(value))
            reduced = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception:
            reduced, self.settled = None, False
        return (*self._own_parts(value), reduced)

    def _module_parts(self, model: nn.Module) -> Iterable[Any]:
        """Return what decides a module's answers: weights, classes, settings, hooks, unsaved buffers."""
        yield self._digest_of(model)
        yield [list(vars(torch_module)[hooks].values()) for hooks in _GLOBAL_HOOKS]
        for name, part in model.named_modules(remove_duplicate=False):
            kind = type(part)
            yield (name, kind, self._extra_repr(part))
            settings = {key: value for key, value in vars(part).items() if key not in _OWN}
            if is_installed(kind):  # private objects of torch's modules may hold half of torch
                settings = {key: value for key, value in settings.items() if _is_setting(key, value)}
            yield settings
            if isinstance(part, torch.jit.ScriptModule):
                self.settled = False  # what its graph holds is followed as far as torch shows it
                yield from _script_parts(part)
            elif isinstance(part, torch.fx.GraphModule):
                yield str(part.code)
            yield [list(vars(part)[hooks].values()) for hooks in _HOOKS]
            yield [part._buffers[buffer] for buffer in sorted(part._non_persistent_buffers_set)]

    def _extra_repr(self, part: nn.Module) -> str:
        try:
            return str(part.extra_repr())
        except Exception:  # a user's own, for looks
            self.settled = False
            return ""


def code_fingerprint(value: Any) -> str:
    """Return a fingerprint of the code, structure and settings of a module or function, 16 hex digits.

    Not of weights: those of a module that are trained or loaded are left out. It follows what identities of models
    follow, and like there, what is read from files or the network is not in it.
    """
    return Fingerprint(lambda part: "").text(value)


def kept_fingerprint(module: nn.Module) -> str:
    """Return the fingerprint of a module's code, structure and settings wherever the code stands, 16 hex digits.

    Not the one of `code_fingerprint`: a class that was moved from a script into a file is the same class here.
    """
    return Fingerprint(lambda part: "", places=False).text(module)


def _shape(tensor: torch.Tensor) -> tuple[int, ...]:
    return () if tensor.is_nested else tuple(tensor.shape)


def _script_parts(part: torch.jit.ScriptModule) -> Iterable[Any]:
    """Yield the code of a scripted module and the constants in it, which hold the weights of a frozen one."""
    with contextlib.suppress(Exception):  # a part without `forward`
        code, constants = part.code_with_constants
        yield str(code)
        yield dict(constants.const_mapping)


def _is_setting(key: str, value: Any) -> bool:
    """Return whether a value of a torch module counts: plain ones, and functions that are no private tools."""
    return isinstance(value, _HELD) or key == "forward" or (key[0] != "_" and isinstance(value, _FUNCTIONS))


def _code_of(kind: type) -> Iterable[Any]:
    """Yield methods and constants of a user's class by name: two classes of one name may answer differently.

    Of an installed class, only what was put there from elsewhere.
    """
    for base in kind.__mro__:
        if base is object:
            continue
        for name, member in sorted(vars(base).items()):
            held = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(held, FunctionType):
                if not is_installed(base) or not is_installed(held):
                    yield (name, held)
            elif name[:2] != "__" and not is_installed(base):
                yield (name, held)


def _named_globals(function: FunctionType) -> dict[str, Any]:
    """Return the global variables that a function reads, and of a user's modules the attributes that it names."""
    attributes = attribute_names(function.__code__)
    named: dict[str, Any] = {}

    def add(name: str, value: Any, above: tuple[Any, ...]) -> None:
        named[name] = value
        if isinstance(value, ModuleType) and not is_installed_module(value) and value not in above:
            for attribute in attributes:
                if attribute in vars(value):
                    add(f"{name}.{attribute}", vars(value)[attribute], (*above, value))

    for name in global_names(function.__code__):
        if name in function.__globals__:
            add(name, function.__globals__[name], ())
    return named
