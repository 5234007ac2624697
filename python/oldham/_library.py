"""The library of the engine: its functions, what they answer, and the exceptions that follow."""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Mapping, NoReturn


def _refuse_other_interpreters() -> None:
    api = ctypes.pythonapi
    api.PyInterpreterState_Get.restype = c_void_p
    api.PyInterpreterState_GetID.argtypes = [c_void_p]
    api.PyInterpreterState_GetID.restype = ctypes.c_int64
    if api.PyInterpreterState_GetID(api.PyInterpreterState_Get()) != 0:
        raise ImportError(
            "oldham works in the main interpreter only, not in a subinterpreter: its callbacks could not tell to "
            "which one they belong; use processes instead"
        )


# Before NumPy is imported, which may have something of its own to say.
_refuse_other_interpreters()

from .errors import ModelError, OldhamError, RunError, StateError, StudyError  # noqa: E402

class _Answer(Structure):
    _fields_ = [
        ("status", ctypes.c_int32),
        ("text", c_void_p),
        ("length", c_size_t),
        ("object", c_void_p),
    ]


_Make = CFUNCTYPE(c_uint64, c_uint64, c_void_p, c_size_t, c_void_p)
_Start = CFUNCTYPE(c_uint64, c_uint64, c_uint64, c_void_p)
_Call = CFUNCTYPE(c_int, c_uint64, c_int, c_double, c_double, c_void_p, c_size_t, c_void_p)
_Forget = CFUNCTYPE(None, c_uint64)
_Tell = CFUNCTYPE(c_int, c_double, c_double, c_double)


class _Callbacks(Structure):
    _fields_ = [("make", _Make), ("start", _Start), ("call", _Call), ("forget", _Forget)]


_PATH = Path(os.environ.get("OLDHAM_LIBRARY") or Path(__file__).with_name("liboldham_python.so"))


def _library(path: Path) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(
            f"the engine {path} cannot be loaded: {error}; install the package by pip, which builds it"
        ) from None
    answer, pointer = POINTER(_Answer), c_void_p
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "version": (c_char_p, []),
        "answer_free": (None, [answer]),
        "reply": (None, [pointer, c_char_p, c_size_t]),
        "model_new": (answer, [c_char_p, c_size_t, POINTER(_Callbacks)]),
        "model_free": (None, [pointer]),
        "model_columns": (answer, [pointer]),
        "cancel_new": (pointer, []),
        "cancel_request": (None, [pointer]),
        "cancel_free": (None, [pointer]),
        "run": (answer, [pointer, c_char_p, c_size_t, pointer, pointer]),
        "run_to_file": (answer, [pointer, c_char_p, c_size_t, pointer, pointer]),
        "study": (answer, [pointer, c_char_p, c_size_t, pointer, pointer]),
        "read": (answer, [c_char_p, c_size_t]),
        "export": (answer, [pointer, c_char_p, c_size_t]),
        "page": (answer, [pointer, pointer, c_char_p, c_size_t]),
        "page_of_file": (answer, [c_char_p, c_size_t]),
        "columns_new": (answer, [c_char_p, c_size_t]),
        "columns_free": (None, [pointer]),
        "columns_stream": (pointer, [pointer]),
        "stream_free": (None, [pointer]),
        "stepper_new": (answer, [pointer, c_char_p, c_size_t]),
        "stepper_step": (c_int, [pointer, pointer, c_uint64, pointer]),
        "stepper_set": (c_int, [pointer, c_size_t, pointer]),
        "stepper_told": (answer, [pointer]),
        "stepper_clock": (answer, [pointer]),
        "stepper_save": (answer, [pointer]),
        "stepper_restore": (answer, [pointer, pointer]),
        "stepper_close": (c_int, [pointer]),
        "stepper_free": (None, [pointer]),
        "state_bytes": (c_size_t, [pointer, pointer, c_size_t]),
        "state_parse": (answer, [c_char_p, c_size_t]),
        "state_free": (None, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, f"oldham_{name}")
        function.restype = result
        function.argtypes = arguments
    return library


_lib = _library(_PATH)
__version__: str = _lib.oldham_version().decode()


def _taken(answer: Any, troubles: list[BaseException] | None = None) -> tuple[Any, int | None]:
    """What an answer tells, and the address of its object."""
    content = answer.contents
    told = json.loads(ctypes.string_at(content.text, content.length))
    status, address = content.status, content.object
    _lib.oldham_answer_free(answer)
    if status:
        _raise(told, troubles)
    return told, address


def _error(told: Mapping[str, Any], cause: BaseException | None) -> BaseException:
    kind = told["kind"]
    if cause is not None and not isinstance(cause, Exception):
        # Such as Ctrl-C in Python code of a part.
        return cause
    error: Exception
    if kind == "model":
        error = ModelError(told["problems"], told["unlisted"])
    elif kind == "run":
        error = RunError(told["text"], told["time"], told["subsystem"])
    elif kind == "busy":
        error = OldhamError(
            "this stepper is busy: another thread, or a Python part inside it, uses it; give each thread its own "
            "(`branch`)"
        )
    else:
        kinds = {"state": StateError, "study": StudyError, "value": ValueError}
        error = kinds.get(kind, OldhamError)(told["text"])
    error.__cause__ = cause
    return error


def _raise(told: Mapping[str, Any], troubles: list[BaseException] | None) -> NoReturn:
    raise _error(told, _first(troubles))


def _first(troubles: list[BaseException] | None) -> BaseException | None:
    """The exception of Python code that came first; the others follow from it."""
    if not troubles:
        return None
    first = troubles[0]
    troubles.clear()
    return first


def _json(data: Mapping[str, Any]) -> tuple[bytes, int]:
    text = json.dumps(data).encode()
    return text, len(text)
