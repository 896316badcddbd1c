"""Which forms of a model are kept and how they are taken over: Flat, Step and C, each with what was said until then.

A Step is kept without the Dae it was made from, which only optional passes need; that has a place of its own.  What
these passes leave is kept beside it, by a name that says what they were asked for.  Forms are written while the C
compiler works, where one is about to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic
from kilohertz.codegen import Jacobians
from kilohertz.driver.keeping.form_store import FormStore
from kilohertz.ir.flat import Flat
from kilohertz.ir.step import Step

if TYPE_CHECKING:
    from kilohertz.building import ModelUnits
    from kilohertz.ir.dae import Dae
    from kilohertz.syntax.library import Libraries

_FLAT, _STEP, _DAE = "flat", "step", "dae"


class Keeping:
    """The kept forms of one model on its way."""

    def __init__(self, name: str, libraries: Libraries, *, is_kept: bool) -> None:
        """`is_kept`: nobody asked for other forms than those that every process makes, or for checked ones."""
        self._libraries = libraries
        self._store = FormStore.of((name, *libraries.identity())) if is_kept else FormStore(None)
        # what earlier models of the session made the libraries say is not known by model
        self._mixed = bool(libraries.diagnostics) and libraries.n_flattened > 0
        self._flat: tuple[Flat, tuple[Diagnostic, ...]] | None = None  # made here
        self._due: list[Callable[[], None]] = []  # what is still to be written
        self.recalls = True  # what earlier processes kept is taken over
        self.was_recalled = False

    def recall(self, form: str) -> tuple[Any, tuple[Diagnostic, ...]] | None:
        """A form of an earlier process, with what was said until it was made."""
        kept = self._recall(form) if form in (_FLAT, _STEP) else None
        if kept is None:
            return None
        kept_form, warnings, read = kept
        for file, within in read.items():
            self._libraries.read.setdefault(file, within)
        self.was_recalled = True
        return kept_form, warnings

    def made(self, form: object, warnings: Iterable[Diagnostic]) -> None:
        """A form was made here: once there is a Step, all are kept, as soon as `write` is called."""
        said = tuple(dict.fromkeys((*self._libraries.diagnostics, *warnings)))
        if isinstance(form, Flat):
            self._libraries.n_flattened += 1
            self._flat = form, said
        if isinstance(form, Step) and not self._mixed:
            self._due.append(partial(self._keep, form, said))

    def write(self) -> None:
        """Keep what was made so far."""
        while self._due:
            self._due.pop(0)()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The same beside what is done inside, which changes no form."""
        if not self._due:
            yield
            return
        with ThreadPoolExecutor(1) as beside:
            written = beside.submit(self.write)
            yield
            written.result()

    def _keep(self, step: Step, said: tuple[Diagnostic, ...]) -> None:
        read = dict(self._libraries.read)
        forms: dict[str, object] = {_STEP: (replace(step, dae=None), said, read), _DAE: step.dae}
        if self._flat is None:  # it was taken over; what came after it was lost
            for name, lost in forms.items():
                self._store.add(name, lost)
        else:
            self._store.keep(forms | {_FLAT: (*self._flat, read)}, self._libraries.outside)

    def equations(self) -> Dae | None:
        """The equations that the Step was made from."""
        kept: Dae | None = self._recall(_DAE)
        return kept

    def derived(self, name: str, make: Callable[[], Step]) -> Step:
        """What optional passes leave of the Step."""
        self.write()
        kept: Step | None = self._recall(name)
        if kept is None:
            kept = make()
            self._store.add(name, replace(kept, dae=None))
        return kept

    def units(
        self,
        name: str,
        form: Step,
        flags: tuple[str, ...] = (),
        jacobians: Jacobians = Jacobians.OFTEN,
        *,
        is_last: bool = True,
    ) -> ModelUnits:
        """The C of a form, by the form's name; unless it `is_last`, kept as soon as `write` is called."""
        from kilohertz.building import model_units, units_of

        file = f"{name}.{jacobians.value}.c"
        sources, kept = self._libraries.sources, self._recall(file)
        if kept is not None:
            return units_of(form, sources, kept, flags)
        units = model_units(form, sources, flags, jacobians)
        self._due.append(partial(self._store.add, file, units.code))
        if is_last:
            self.write()
        return units

    def _recall(self, form: str) -> Any | None:
        return self._store.recall(form) if self.recalls else None
