"""The engine behind its C interface.

Everything here mirrors a function of the library; what a user calls is around it. Long calls are made on a thread
of their own, so that Ctrl-C is heard meanwhile; `ctypes` releases the interpreter's lock around every call.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import threading
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable, Mapping, NoReturn, Sequence


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


# Before NumPy, which may have something of its own to say.
_refuse_other_interpreters()

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from .errors import ModelError, OldhamError, RunError, StateError, StudyError  # noqa: E402

_LOOK = 0.02
"""Seconds between two looks at signals."""
_PIECE = 1000
"""Steps between two looks at signals."""


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


def _library() -> ctypes.CDLL:
    path = os.environ.get("OLDHAM_LIBRARY") or Path(__file__).with_name("liboldham_python.so")
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


_lib = _library()
__version__: str = _lib.oldham_version().decode()


class _Object:
    """An object of the engine, freed with its last reference."""

    def __init__(self, address: int, free: Callable[[int], None]) -> None:
        self.address = address
        self._free = free
        # What a fork inherits belongs to threads that it does not have.
        self._process = os.getpid()

    def __del__(self) -> None:
        if self._process == os.getpid():
            self._free(self.address)


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


def _watched(work: Callable[[], Any], cancel: Callable[[], None] | None) -> tuple[Any, BaseException | None]:
    """Does the work on a thread; a signal that raises, such as Ctrl-C, cancels it, and its end is waited for. Work
    that cannot be cancelled is left behind."""
    box: list[Any] = []

    def run() -> None:
        try:
            box.append((work(), None))
        except BaseException as error:
            box.append((None, error))

    thread = threading.Thread(target=run, name="oldham", daemon=True)
    thread.start()
    interrupted: BaseException | None = None
    while True:
        try:
            while thread.is_alive():
                thread.join(_LOOK)
            break
        except BaseException as signal:
            if cancel is None or interrupted is not None:
                raise
            interrupted = signal
            cancel()
    result, error = box[0]
    if error is not None:
        raise error
    return result, interrupted


# Python code that the engine calls.

_numbers = itertools.count(1)
_known: dict[int, Any] = {}


def _register(thing: Any) -> int:
    number = next(_numbers)
    _known[number] = thing
    return number


def _one_line(error: BaseException) -> bytes:
    text = str(error)
    name = type(error).__name__
    return (f"{name}: {text}" if text else name).encode()


def _reply(reply: int, data: bytes) -> None:
    _lib.oldham_reply(reply, data, len(data))


class _Kind:
    """A class that makes objects, and where its exceptions go."""

    def __init__(self, make: Callable[..., Any], troubles: list[BaseException]) -> None:
        self.make = make
        self.troubles = troubles


class _Made:
    """An object with its settings."""

    def __init__(self, thing: Any, troubles: list[BaseException]) -> None:
        self.thing = thing
        self.troubles = troubles


class _Solver:
    """An object with a state: arrays that the engine sees, too."""

    def __init__(self, made: _Made, received: int, given: int, state: Any) -> None:
        self.troubles = made.troubles
        self.thing = made.thing
        self.received = np.zeros(received)
        self.given = np.zeros(given)
        self.seen = self.received.view()
        self.seen.flags.writeable = False
        self.is_opaque = isinstance(state, bytes)
        self.opaque: bytes | None = state if self.is_opaque else None
        self.has_state = state is not None
        self.state = _coordinates(state) if not self.is_opaque else np.zeros(0)

    def description(self) -> dict[str, Any]:
        arrays = (self.received, self.state, self.given)
        return {
            "arrays": [array.__array_interface__["data"][0] for array in arrays],
            "lengths": [len(array) for array in arrays],
            "bytes": None if self.opaque is None else list(self.opaque),
        }


def _coordinates(state: Any) -> NDArray[np.float64]:
    if state is None:
        return np.zeros(0)
    try:
        numbers = np.array(state, dtype=float)
    except (TypeError, ValueError):
        numbers = np.zeros((0, 0))
    if numbers.ndim != 1:
        raise TypeError(
            "the state must be None, numbers or an array of one dimension (its coordinates), or bytes"
        )
    return numbers


def _fill(out: NDArray[np.float64], given: Any, what: str) -> None:
    """Puts what Python code gave into an array, if it has as many numbers."""
    if isinstance(given, (float, int)):
        count = 1
    elif isinstance(given, (tuple, list)):
        count = len(given)
    elif isinstance(given, np.ndarray) and given.ndim <= 1:
        count = given.size
    elif isinstance(given, np.number):
        count = 1
    else:
        raise TypeError(f"{what} must give numbers, not {type(given).__name__}")
    if count != len(out):
        counted = "1 number" if count == 1 else f"{count} numbers"
        expected = "one is" if len(out) == 1 else f"{len(out)} are"
        raise ValueError(f"{what} gave {counted}, and {expected} expected")
    out[:] = given


@_Make
def _make(kind: int, text: int, length: int, reply: int) -> int:
    found = _known[kind]
    try:
        thing = found.make(**json.loads(ctypes.string_at(text, length)))
        return _register(_Made(thing, found.troubles))
    except BaseException as error:
        found.troubles.append(error)
        _reply(reply, _one_line(error))
        return 0


@_Start
def _start(number: int, width: int, reply: int) -> int:
    made = _known[number]
    try:
        thing = made.thing
        if hasattr(thing, "predict"):
            solver = _Solver(made, width, width, thing.start(width))
            description = solver.description()
        else:
            widths = [sum(port.width for port in ports) for ports in (thing.inputs, thing.outputs)]
            solver = _Solver(made, *widths, thing.start())
            description = {
                **solver.description(),
                "inputs": [port._asdict() for port in thing.inputs],
                "outputs": [port._asdict() for port in thing.outputs],
                "direct": [list(pair) for pair in thing.direct],
                "conjugate": [list(pair) for pair in thing.conjugate],
            }
        _reply(reply, json.dumps(description).encode())
        return _register(solver)
    except BaseException as error:
        made.troubles.append(error)
        _reply(reply, _one_line(error))
        return 0


_ADVANCE, _SEND, _RECEIVE, _PREDICT = range(4)


@_Call
def _call(
    number: int, method: int, t: float, dt: float, data: int | None, length: int, reply: int
) -> int:
    solver = _known[number]
    try:
        thing = solver.thing
        state: Any = solver.state
        if solver.is_opaque:
            state = ctypes.string_at(data, length) if data and length else b""
        elif not solver.has_state:
            state = None
        if method == _SEND:
            _fill(solver.given, thing.send(state, t, solver.seen), "`send`")
            return 0
        if method == _PREDICT:
            _fill(solver.given, thing.predict(state, t), "`predict`")
            return 0
        if method == _ADVANCE:
            new = thing.advance(state, t, dt, solver.seen)
        else:
            new = thing.receive(state, t, solver.seen)
        if solver.is_opaque:
            if new is None:
                return 0
            if not isinstance(new, bytes):
                raise TypeError(
                    f"`start` gave bytes as state; the new one must be bytes, too, not {type(new).__name__}"
                )
            _reply(reply, new)
            return 2
        if new is not None and new is not state:
            if not solver.has_state:
                raise TypeError(
                    "there is a new state, but `start` gave none: give the state at the start there"
                )
            _fill(solver.state, new, "the state")
        return 0
    except BaseException as error:
        solver.troubles.append(error)
        _reply(reply, _one_line(error))
        return 1


@_Forget
def _forget(number: int) -> None:
    _known.pop(number, None)


_callbacks = _Callbacks(_make, _start, _call, _forget)


class Columns:
    """Columns of numbers in the engine's memory."""

    def __init__(self, described: Mapping[str, Any], address: int) -> None:
        self._object = _Object(address, _lib.oldham_columns_free)
        self.names: list[str] = described["names"]
        self.units: list[str] = described["units"]
        self.rows: int = described["rows"]
        self._places: list[int] = described["places"]

    @classmethod
    def of(
        cls, names: Sequence[str], units: Sequence[str], values: Sequence[NDArray[np.float64]]
    ) -> Columns:
        """Copies of arrays, time first."""
        arrays = [np.ascontiguousarray(one, dtype=float) for one in values]
        rows = len(arrays[0]) if arrays else 0
        if not len(names) == len(units) == len(arrays) or any(a.shape != (rows,) for a in arrays):
            raise ValueError("columns need a name and a unit each, and equal lengths")
        given = {
            "names": list(names),
            "units": list(units),
            "rows": rows,
            "places": [array.__array_interface__["data"][0] for array in arrays],
        }
        told, address = _taken(_lib.oldham_columns_new(*_json(given)))
        assert address is not None
        return cls(told["columns"], address)

    def __len__(self) -> int:
        return self.rows

    def array(self, place: int) -> NDArray[np.float64]:
        """One column as a read-only array, which keeps all of them alive."""
        if not self.rows:
            return np.zeros(0)
        return np.asarray(_Column(self._object, self._places[place], self.rows))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        # A wish for another schema need not be fulfilled.
        stream = _lib.oldham_columns_stream(self._object.address)
        return ctypes.pythonapi.PyCapsule_New(stream, _STREAM, _end_of_capsule)


class _Column:
    """What NumPy needs to see a column."""

    def __init__(self, owner: _Object, place: int, rows: int) -> None:
        self._owner = owner
        self.__array_interface__ = {
            "shape": (rows,),
            "typestr": "<f8",
            "data": (place, True),
            "version": 3,
        }


_STREAM = b"arrow_array_stream"
_EndOfCapsule = ctypes.PYFUNCTYPE(None, c_void_p)
ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_New.argtypes = [c_void_p, c_char_p, _EndOfCapsule]
ctypes.pythonapi.PyCapsule_GetPointer.restype = c_void_p
ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [c_void_p, c_char_p]


@_EndOfCapsule
def _end_of_capsule(capsule: int) -> None:
    _lib.oldham_stream_free(ctypes.pythonapi.PyCapsule_GetPointer(capsule, _STREAM))


class _Cancel(_Object):
    def __init__(self) -> None:
        super().__init__(_lib.oldham_cancel_new(), _lib.oldham_cancel_free)

    def request(self) -> None:
        _lib.oldham_cancel_request(self.address)


class Model(_Object):
    """A checked model."""

    def __init__(
        self,
        path: str,
        text: str | None,
        settings: Sequence[tuple[str, str]],
        kinds: Sequence[Any],
    ) -> None:
        self.troubles: list[BaseException] = []
        self._kinds = [_register(_Kind(kind.make, self.troubles)) for kind in kinds]
        given = {
            "path": path,
            "text": text,
            "settings": settings,
            "kinds": [
                {"number": number, "is_predictor": kind.is_predictor, "name": kind.name, "keys": kind.keys}
                for number, kind in zip(self._kinds, kinds)
            ],
        }
        self._free_kinds = self._kinds
        # Nothing to free until there is a model.
        super().__init__(0, lambda address: None)
        answer = _lib.oldham_model_new(*_json(given), ctypes.byref(_callbacks))
        self.told, address = _taken(answer, self.troubles)
        assert address is not None
        super().__init__(address, _lib.oldham_model_free)

    def __del__(self) -> None:
        super().__del__()
        for number in self._free_kinds:
            # Solvers that still run have what they need themselves.
            _known.pop(number, None)

    def columns(self) -> list[tuple[str, str, bool]]:
        """Names and units of columns, and whether steps read them."""
        told, _ = _taken(_lib.oldham_model_columns(self.address), self.troubles)
        return [(name, unit, is_read) for name, unit, is_read in told]

    def _long(
        self, function: Any, wanted: Mapping[str, Any], progress: Callable[..., Any] | None
    ) -> tuple[Any, int | None, BaseException | None]:
        """A call on a thread: what it tells, the object, and what a signal or the progress raised."""
        cancel = _Cancel()
        raised: list[BaseException] = []

        def tell(share: float, time: float, factor: float) -> int:
            try:
                assert progress is not None
                progress(share, time, factor)
                return 0
            except BaseException as error:
                raised.append(error)
                return 1

        callback = _Tell(tell) if progress is not None else None
        pointer = ctypes.cast(callback, c_void_p) if callback is not None else None

        def work() -> tuple[Any, int | None]:
            answer = function(self.address, *_json(wanted), cancel.address, pointer)
            return _taken(answer, self.troubles)

        (told, address), interrupted = _watched(work, cancel.request)
        return told, address, raised[0] if raised else interrupted

    def run(
        self,
        every: int | None,
        threads: int | None,
        monolithic: bool,
        progress: Callable[..., Any] | None,
    ) -> tuple[Columns, dict[str, Any], BaseException | None]:
        """Runs in memory."""
        wanted = {"every": every, "threads": threads, "monolithic": monolithic}
        told, address, raised = self._long(_lib.oldham_run, wanted, progress)
        return Columns(told["columns"], address or 0), told, self._ended(told, raised)

    def run_to_file(
        self, wanted: Mapping[str, Any], progress: Callable[..., Any] | None
    ) -> tuple[dict[str, Any], BaseException | None]:
        """Runs with results in a file."""
        told, _, raised = self._long(_lib.oldham_run_to_file, wanted, progress)
        return told, self._ended(told, raised)

    def _ended(self, told: Mapping[str, Any], raised: BaseException | None) -> BaseException | None:
        cause = _first(self.troubles)
        if raised is not None:
            return raised
        return _error(told["fault"], cause) if told["fault"] is not None else None

    def study(self, study: str, progress: Callable[..., Any] | None = None, **wanted: Any) -> Any:
        """A study, by its name."""
        can_end = study in ("sweep", "compare")
        cancel = _Cancel()
        callback = _Tell(lambda share, time, factor: _told(progress, share)) if progress else None
        pointer = ctypes.cast(callback, c_void_p) if callback is not None else None

        def work() -> Any:
            answer = _lib.oldham_study(
                self.address, *_json({"study": study, **wanted}), cancel.address, pointer
            )
            return _taken(answer, self.troubles)[0]

        try:
            told, interrupted = _watched(work, cancel.request if can_end else None)
        except KeyboardInterrupt:
            # What was left behind still needs these.
            _left_behind.append((self, cancel, callback))
            raise
        if interrupted is not None:
            raise interrupted
        return told


_left_behind: list[Any] = []


def _told(progress: Callable[..., Any] | None, share: float) -> int:
    try:
        if progress is not None:
            progress(share)
        return 0
    except BaseException:
        return 1


class State(_Object):
    """A saved state."""

    def __init__(self, address: int, time: float) -> None:
        super().__init__(address, _lib.oldham_state_free)
        self.time = time

    def to_bytes(self) -> bytes:
        """The state as bytes."""
        length = _lib.oldham_state_bytes(self.address, None, 0)
        room = ctypes.create_string_buffer(length)
        _lib.oldham_state_bytes(self.address, room, length)
        return room.raw

    @classmethod
    def from_bytes(cls, data: bytes, time: float) -> State:
        """A state from its bytes."""
        _, address = _taken(_lib.oldham_state_parse(data, len(data)))
        assert address is not None
        return cls(address, time)


class Stepper(_Object):
    """A simulation that goes on a step at a time."""

    def __init__(self, model: Model, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        super().__init__(0, lambda address: None)
        self._model = model
        wanted = {"inputs": list(inputs), "outputs": list(outputs)}
        told, address = _taken(
            _lib.oldham_stepper_new(model.address, *_json(wanted)), model.troubles
        )
        assert address is not None
        super().__init__(address, _lib.oldham_stepper_free)
        self._widths: list[int] = told["widths"]
        self._width = sum(self._widths)
        # The engine reads and writes here; `or None`: an empty array is no array.
        self._set = np.zeros(self._width)
        self._seen = np.zeros(len(outputs))
        self._set_at = self._set.__array_interface__["data"][0] if self._width else None
        self._seen_at = self._seen.__array_interface__["data"][0] if outputs else None

    def step(self, values: Any, steps: int = 1) -> NDArray[np.float64]:
        """Sets all inputs, one after the other, goes on by so many macro steps and gives the outputs."""
        if os.getpid() != self._process or steps < 0:
            self._refuse(steps)
        count = 1 if isinstance(values, (float, int)) else len(values)
        if count != self._width:
            _fill(self._set, values, "the caller")
        self._set[:] = values
        while steps > _PIECE:
            # Signals are looked at between pieces of a long way.
            status = _lib.oldham_stepper_step(self.address, self._set_at, _PIECE, None)
            if status:
                self._failed(status)
            steps -= _PIECE
        status = _lib.oldham_stepper_step(self.address, self._set_at, steps, self._seen_at)
        if status:
            self._failed(status)
        return self._seen.copy()

    def advance(self, steps: int = 1) -> None:
        """Goes on by so many macro steps, with the inputs as they are set."""
        if os.getpid() != self._process or steps < 0:
            self._refuse(steps)
        while True:
            piece = min(steps, _PIECE)
            status = _lib.oldham_stepper_step(self.address, None, piece, None)
            if status:
                self._failed(status)
            steps -= piece
            if steps <= 0:
                return

    def read(self) -> NDArray[np.float64]:
        """The outputs at the time reached, one after the other."""
        if os.getpid() != self._process:
            self._refuse(0)
        status = _lib.oldham_stepper_step(self.address, None, 0, self._seen_at)
        if status:
            self._failed(status)
        return self._seen.copy()

    def set_one(self, place: int, values: Any) -> None:
        """Sets one input."""
        if os.getpid() != self._process:
            self._refuse(0)
        given = np.zeros(self._widths[place])
        _fill(given, values, "the caller")
        status = _lib.oldham_stepper_set(
            self.address, place, given.__array_interface__["data"][0]
        )
        if status:
            self._failed(status)

    def clock(self) -> tuple[float, int]:
        """The time reached, and macro steps done."""
        told = self._asked(_lib.oldham_stepper_clock)[0]
        return told["time"], told["steps"]

    def save(self) -> State:
        """The complete state."""
        told, address = self._asked(_lib.oldham_stepper_save)
        return State(address or 0, told["time"])

    def restore(self, state: State) -> None:
        """Goes back, or on, to a saved state of the same model."""
        self._asked(_lib.oldham_stepper_restore, state.address)

    def close(self) -> None:
        """Ends it."""
        status = _lib.oldham_stepper_close(self.address)
        if status:
            self._failed(status)

    def _asked(self, function: Any, *more: Any) -> tuple[Any, int | None]:
        if os.getpid() != self._process:
            self._refuse(0)
        return _taken(function(self.address, *more), self._model.troubles)

    def _refuse(self, steps: int) -> None:
        if os.getpid() != self._process:
            raise OldhamError(
                "this stepper belongs to the process that was forked; make one in the new process"
            )
        raise ValueError(f"{steps} steps: there is no way back but `restore`")

    def _failed(self, status: int) -> NoReturn:
        if status == 2:
            _raise({"kind": "busy"}, None)
        _taken(_lib.oldham_stepper_told(self.address), self._model.troubles)
        raise AssertionError("a step that failed tells why")


def read(path: str) -> tuple[Columns, dict[str, str]]:
    """A result file: its columns, and what it says of itself."""
    given = _json({"path": path})
    (told, address), _ = _watched(lambda: _taken(_lib.oldham_read(*given)), None)
    return Columns(told["columns"], address), told["metadata"]
