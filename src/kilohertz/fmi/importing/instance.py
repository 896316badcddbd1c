"""One instance of an FMU behind ctypes, FMI 1, 2 or 3: what the worker's process does with it.

Functions are looked up when they are first called: an FMU need not have those that nobody needs.  Before a call its
name and the model time are left in a file, for whoever watches the process.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kilohertz.fmi.importing.isolation import IsolationRefused, isolate

PLACE_SIZE = 256
_OK, _WARNING, _DISCARD = 0, 1, 2
_REAL, _POINTER, _TEXT, _SIZE = ctypes.c_double, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
_C2 = {"Real": ctypes.c_double, "Integer": ctypes.c_int, "Enumeration": ctypes.c_int, "Boolean": ctypes.c_int}
_C1 = {**_C2, "Boolean": ctypes.c_int8}
_C3 = {
    "Float64": ctypes.c_double,
    "Float32": ctypes.c_float,
    "Int8": ctypes.c_int8,
    "UInt8": ctypes.c_uint8,
    "Int16": ctypes.c_int16,
    "UInt16": ctypes.c_uint16,
    "Int32": ctypes.c_int32,
    "UInt32": ctypes.c_uint32,
    "Int64": ctypes.c_int64,
    "UInt64": ctypes.c_uint64,
    "Boolean": ctypes.c_bool,
    "Enumeration": ctypes.c_int64,
}
_LOG2 = ctypes.CFUNCTYPE(None, _POINTER, _TEXT, ctypes.c_int, _TEXT, _TEXT, _POINTER)  # and more, as printf has them
_LOG3 = ctypes.CFUNCTYPE(None, _POINTER, ctypes.c_int, _TEXT, _TEXT)
_ALLOCATE = ctypes.CFUNCTYPE(_POINTER, _SIZE, _SIZE)
_FREE = ctypes.CFUNCTYPE(None, _POINTER)


class Stopped(Exception):
    """The run cannot go on: `how` is what the starter says about it."""

    def __init__(self, how: str, **more: Any) -> None:
        super().__init__(how)
        self.report = {"how": how, **more}


class Callbacks2(ctypes.Structure):
    """fmi2CallbackFunctions."""

    _fields_ = (
        ("logger", _LOG2),
        ("allocate", _ALLOCATE),
        ("free", _FREE),
        ("finished", _POINTER),
        ("environment", _POINTER),
    )


class Callbacks1(ctypes.Structure):
    """fmiCallbackFunctions, of FMI 1."""

    _fields_ = (("logger", _LOG2), ("allocate", _ALLOCATE), ("free", _FREE), ("finished", _POINTER))


class Library:
    """The functions of an FMU, looked up when they are first called."""

    def __init__(self, job: dict[str, Any], folder: Path) -> None:
        self.prefix = job["prefix"]
        self.messages: list[str] = []
        self.time = float("nan")
        handle = os.open(folder / "place", os.O_RDWR)
        self._place = mmap.mmap(handle, PLACE_SIZE)
        os.close(handle)
        os.chdir(Path(job["binary"]).parent)  # some look for more beside them
        if job.get("isolate"):
            try:
                isolate()  # before anything of the FMU runs: loading runs some of it
            except IsolationRefused as refused:
                raise Stopped("open", text=str(refused)) from None
        try:
            self.loaded = ctypes.CDLL(job["binary"], mode=os.RTLD_LAZY)
        except OSError as error:
            raise Stopped("load", text=str(error)) from None

    def has(self, name: str) -> bool:
        return hasattr(self.loaded, self.prefix + name)

    def __call__(self, name: str, *arguments: Any, result: Any = ctypes.c_int) -> Any:
        """Call a function; the starter knows which one until it is back."""
        full = self.prefix + name
        try:
            function = getattr(self.loaded, full)
        except AttributeError:
            raise Stopped("missing", function=full) from None
        function.restype = result
        text = f"{full} at time = {self.time:.9g}".encode()[: PLACE_SIZE - 1]
        self._place[: len(text) + 1] = text + b"\0"
        given = function(*arguments)
        self._place[:1] = b"\0"
        return given

    def demand(self, name: str, *arguments: Any) -> int:
        """The same; a status worse than a warning ends the run."""
        status = int(self(name, *arguments))
        if status > _WARNING:
            said = self.messages[-3:]
            raise Stopped("status", function=self.prefix + name, status=status, time=self.time, messages=said)
        return status

    def hear(self, text: bytes | None, more: int | None = None) -> None:
        """A message of the FMU; where it is `%s` alone, that of which `more` is the address."""
        if text == b"%s" and more:
            text = ctypes.string_at(more)
        if len(self.messages) < 1000:
            self.messages.append((text or b"").decode("utf-8", "replace"))


class Instance:
    """One instance of an FMU."""

    def __init__(self, job: dict[str, Any], folder: Path) -> None:
        self.job, self.version = job, job["version"]
        self.call = Library(job, folder)
        self._kept: list[Any] = []
        self.handle = self._made()
        if not self.handle:
            raise Stopped("instantiate", messages=self.call.messages[-3:])

    def _made(self) -> Any:
        job, name = self.job, b"khz"
        token, is_cs = job["token"].encode(), job["kind"] == "cs"
        if self.version == 1:
            calls = Callbacks1(*self._common_callbacks(), None)
            self._kept.append(calls)
            where = Path(job["resources"]).parent.as_uri().encode()
            about = (_TEXT(name), _TEXT(token), _TEXT(where), _TEXT(b"application/x-fmu-sharedlibrary"), _REAL(0.0))
            no1 = ctypes.c_int8(0)
            return self.call("InstantiateSlave", *about, no1, no1, calls, no1, result=_POINTER)
        if self.version == 2:
            callbacks = Callbacks2(*self._common_callbacks(), None, None)
            self._kept.append(callbacks)
            uri = Path(job["resources"]).as_uri().encode()
            arguments = (_TEXT(name), ctypes.c_int(is_cs), _TEXT(token), _TEXT(uri), ctypes.byref(callbacks))
            return self.call("Instantiate", *arguments, ctypes.c_int(0), ctypes.c_int(0), result=_POINTER)
        logger3 = _LOG3(lambda environment, status, category, text: self.call.hear(text))
        self._kept.append(logger3)
        no, path = ctypes.c_bool(False), _TEXT((job["resources"] + "/").encode())
        common = (_TEXT(name), _TEXT(token), path, no, no)
        if is_cs:
            rest = (no, no, _POINTER(None), _SIZE(0), _POINTER(None), logger3, _POINTER(None))
            return self.call("InstantiateCoSimulation", *common, *rest, result=_POINTER)
        return self.call("InstantiateModelExchange", *common, _POINTER(None), logger3, result=_POINTER)

    def _common_callbacks(self) -> tuple[Any, Any, Any]:
        """Logger and memory, of FMI 1 and 2."""
        libc = ctypes.CDLL(None)
        libc.calloc.restype, libc.calloc.argtypes, libc.free.argtypes = _POINTER, [_SIZE, _SIZE], [_POINTER]
        logger = _LOG2(lambda environment, instance, status, category, text, more: self.call.hear(text, more))
        self._kept += [logger, libc]
        return logger, ctypes.cast(libc.calloc, _ALLOCATE), ctypes.cast(libc.free, _FREE)

    @property
    def me(self) -> Any:
        return _POINTER(self.handle)

    def start(self, settings: list[list[Any]], inputs: list[list[Any]]) -> None:
        """Values, initial equations."""
        job = self.job
        self.call.time = job["start"]
        start, stop, yes = _REAL(job["start"]), _REAL(job["stop"]), 1 if job["tell_stop"] else 0
        tolerance = job["tolerance"] or 0.0
        if self.version == 2:
            given = ctypes.c_int(tolerance > 0), _REAL(tolerance), start, ctypes.c_int(yes), stop
            self.call.demand("SetupExperiment", self.me, *given)
        for variable, value in settings:
            self.set(variable, value)
        if self.version == 1:
            for variable, value in inputs:
                self.set(variable, value)
            self.call.demand("InitializeSlave", self.me, start, ctypes.c_int8(yes), stop)
            return
        if self.version == 2:
            self.call.demand("EnterInitializationMode", self.me)
        else:
            given3 = ctypes.c_bool(tolerance > 0), _REAL(tolerance), start, ctypes.c_bool(yes), stop
            self.call.demand("EnterInitializationMode", self.me, *given3)
        for variable, value in inputs:
            self.set(variable, value)
        self.call.demand("ExitInitializationMode", self.me)

    # ---------------------------------------------------------------------------------------------------------- values

    def _access(self, verb: str, variable: dict[str, Any]) -> tuple[str, Any]:
        kind = variable["kind"]
        if self.version < 3:
            types = _C1 if self.version == 1 else _C2
            return f"{verb}{'Integer' if kind == 'Enumeration' else kind}", types.get(kind)
        return f"{verb}{'Int64' if kind == 'Enumeration' else kind}", _C3.get(kind)

    def set(self, variable: dict[str, Any], value: Any) -> None:
        """Give a variable a value, an array all of its values."""
        name, ctype = self._access("Set", variable)
        given = value if isinstance(value, list) else [value]
        reference, n = (ctypes.c_uint32 * 1)(variable["reference"]), len(given)
        if variable["type"] == "String":
            values: Any = (_TEXT * n)(*(str(v).encode() for v in given))
        else:
            values = (ctype * n)(*(float(v) if variable["type"] == "Real" else int(v) for v in given))
        more = (_SIZE(n),) if self.version == 3 else ()
        self.call.demand(name, self.me, reference, _SIZE(1), values, *more)

    def reader(self, variables: list[dict[str, Any]]) -> Callable[[], list[float]]:
        """A function that reads these, one call for each type."""
        groups: dict[str, list[dict[str, Any]]] = {}
        places: dict[str, list[int]] = {}
        at = 0
        for v in variables:
            groups.setdefault(v["kind"], []).append(v)
            places.setdefault(v["kind"], []).extend(range(at, at + v["size"]))
            at += v["size"]
        calls = []
        for kind, group in groups.items():
            name, ctype = self._access("Get", group[0])
            references = (ctypes.c_uint32 * len(group))(*(v["reference"] for v in group))
            calls.append((name, references, (ctype * len(places[kind]))(), places[kind]))
        row = [0.0] * at

        def read() -> list[float]:
            for name, references, values, where in calls:
                more = (_SIZE(len(where)),) if self.version == 3 else ()
                self.call.demand(name, self.me, references, _SIZE(len(references)), values, *more)
                for i, value in zip(where, values, strict=True):
                    row[i] = float(value)
            return row

        return read

    # ----------------------------------------------------------------------------------------------------------- steps

    def step(self, time: float, length: float) -> bool:
        """One communication step; whether the FMU wants to end the run."""
        self.call.time = time
        if self.version < 3:
            yes = ctypes.c_int8(1) if self.version == 1 else ctypes.c_int(1)
            status = int(self.call("DoStep", self.me, _REAL(time), _REAL(length), yes))
            if status == _DISCARD and self._has_terminated():
                return True
            done = False
        else:
            flags = [ctypes.c_bool(False) for _ in range(3)]
            reached = _REAL(time)
            given = (_REAL(time), _REAL(length), ctypes.c_bool(True), *map(ctypes.byref, flags), ctypes.byref(reached))
            status = int(self.call("DoStep", self.me, *given))
            done = bool(flags[1].value)
        if status > _WARNING:
            function = f"{self.call.prefix}DoStep"
            said = self.call.messages[-3:]
            raise Stopped("status", function=function, status=status, time=time, messages=said)
        return done

    def _has_terminated(self) -> bool:
        value = ctypes.c_int(0)
        terminated = ctypes.c_int(3)
        has = self.version == 2 and self.call.has("GetBooleanStatus")
        return has and self.call("GetBooleanStatus", self.me, terminated, ctypes.byref(value)) == 0 and value.value != 0

    def close(self) -> None:
        """The end of a run that came to it."""
        is_1 = self.version == 1
        self.call.demand("TerminateSlave" if is_1 else "Terminate", self.me)
        self.call("FreeSlaveInstance" if is_1 else "FreeInstance", self.me, result=None)
