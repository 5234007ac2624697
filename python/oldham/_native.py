"""Objects of the engine.

Everything here mirrors functions of the library; what a user calls is around it. Long calls are made on a thread of
their own, so that Ctrl-C is heard meanwhile; `ctypes` releases the interpreter's lock around every call.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from ctypes import c_char_p, c_void_p
from typing import Any, Callable, Mapping, NoReturn, Sequence

# First: it refuses interpreters in which nothing of this can be.
from ._library import (
    _PATH,
    __version__ as __version__,
    _error,
    _first,
    _json,
    _lib,
    _raise,
    _taken,
    _Tell,
)

import numpy as np
from numpy.typing import NDArray

from ._calls import _callbacks, _fill, _Kind, _known, _register
from .errors import OldhamError

_LOOK = 0.02
"""Seconds between two looks at signals."""
_PIECE = 1000
"""Steps between two looks at signals."""


_is_ending = threading.Event()
atexit.register(_is_ending.set)


class _Object:
    """An object of the engine, freed with its last reference; not while the interpreter ends, which could not be
    called back any more."""

    def __init__(self, address: int, free: Callable[[int], None]) -> None:
        self.address = address
        self._free = free
        # What a fork inherits belongs to threads that it does not have.
        self._process = os.getpid()

    def __del__(self) -> None:
        if not _is_ending.is_set() and self._process == os.getpid():
            self._free(self.address)


def _watched(work: Callable[[], Any], cancel: Callable[[], None] | None) -> tuple[Any, BaseException | None]:
    """Does the work on a thread; a signal that raises, such as Ctrl-C, cancels it, and its end is waited for. Work
    that cannot be cancelled is left behind."""
    box: list[Any] = []
    # A join that is interrupted may take the thread for ended; an event does not.
    done = threading.Event()

    def run() -> None:
        try:
            box.append((work(), None))
        except BaseException as error:
            box.append((None, error))
        finally:
            done.set()

    thread = threading.Thread(target=run, name="oldham", daemon=True)
    interrupted: BaseException | None = None
    try:
        while not done.is_set():
            try:
                if thread.ident is None:
                    thread.start()
                while not done.wait(_LOOK):
                    pass
            except BaseException as signal:
                if cancel is None or interrupted is not None:
                    raise
                interrupted = signal
                cancel()
    except BaseException:
        # A second signal, perhaps while the first one was seen to: nobody waits any longer than the run needs to
        # hear of it.
        if cancel is not None:
            cancel()
            done.wait(1.0)
        raise
    result, error = box[0]
    if error is not None:
        raise error
    return result, interrupted


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


def _free_stream(capsule: int) -> None:
    _lib.oldham_stream_free(ctypes.pythonapi.PyCapsule_GetPointer(capsule, _STREAM))


_end_of_capsule = _EndOfCapsule(_free_stream)


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


    def export(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Writes the model as an FMU."""
        given = _json({**wanted, "package": os.path.abspath(_PATH)})
        told: dict[str, Any]
        told, _ = _taken(_lib.oldham_export(self.address, *given))
        return told

    def page(self, columns: Columns, frames: int) -> dict[str, Any]:
        """The page of results in memory."""
        shared = columns._object.address
        told: dict[str, Any]
        told, _ = _taken(_lib.oldham_page(self.address, shared, *_json({"frames": frames})))
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
        # Never waited for: a long way in pieces is one use.
        self._use = threading.Lock()

    def step(self, values: Any, steps: int = 1) -> NDArray[np.float64]:
        """Sets all inputs, one after the other, goes on by so many macro steps and gives the outputs."""
        if os.getpid() != self._process or steps < 0:
            self._refuse(steps)
        if not self._use.acquire(False):
            _raise({"kind": "busy"}, None)
        try:
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
        finally:
            self._use.release()

    def advance(self, steps: int = 1) -> None:
        """Goes on by so many macro steps, with the inputs as they are set."""
        if os.getpid() != self._process or steps < 0:
            self._refuse(steps)
        if not self._use.acquire(False):
            _raise({"kind": "busy"}, None)
        try:
            while True:
                piece = min(steps, _PIECE)
                status = _lib.oldham_stepper_step(self.address, None, piece, None)
                if status:
                    self._failed(status)
                steps -= piece
                if steps <= 0:
                    return
        finally:
            self._use.release()

    def read(self) -> NDArray[np.float64]:
        """The outputs at the time reached, one after the other."""
        if os.getpid() != self._process:
            self._refuse(0)
        if not self._use.acquire(False):
            _raise({"kind": "busy"}, None)
        try:
            status = _lib.oldham_stepper_step(self.address, None, 0, self._seen_at)
            if status:
                self._failed(status)
            return self._seen.copy()
        finally:
            self._use.release()

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


def page_of_file(path: str, frames: int) -> dict[str, Any]:
    """The page of a result file."""
    told: dict[str, Any]
    told, _ = _taken(_lib.oldham_page_of_file(*_json({"path": path, "frames": frames})))
    return told


def read(path: str) -> tuple[Columns, dict[str, str]]:
    """A result file: its columns, and what it says of itself."""
    given = _json({"path": path})
    (told, address), _ = _watched(lambda: _taken(_lib.oldham_read(*given)), None)
    return Columns(told["columns"], address), told["metadata"]
