"""Any form as text, and text as the form its first word names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kilohertz.base import InternalError
from kilohertz.ir.dae import Dae
from kilohertz.ir.flat import Flat
from kilohertz.ir.ordered import Ordered
from kilohertz.ir.step import Step
from kilohertz.ir.text.dae_printer import print_dae
from kilohertz.ir.text.expr_reader import ReadError, tokens
from kilohertz.ir.text.flat_printer import print_flat
from kilohertz.ir.text.flat_reader import read_flat
from kilohertz.ir.text.ordered_printer import print_ordered, print_systems
from kilohertz.ir.text.ordered_reader import read_ordered
from kilohertz.ir.text.step_printer import print_step
from kilohertz.ir.text.step_reader import read_step

Form = Flat | Dae | Ordered | Step
_READERS: dict[str, Callable[[str], Form]] = {"model": read_flat, "dae": read_ordered, "step": read_step}


def print_form(form: Any, *, whole: bool = True) -> str:
    """The text of a form, whichever it is; not `whole`: an Ordered without the Dae it comes from."""
    match form:
        case Flat():
            return print_flat(form)
        case Dae():
            return print_dae(form)
        case Ordered():
            return print_ordered(form) if whole else print_systems(form)
        case Step():
            return print_step(form)
        case _:
            raise InternalError(f"{type(form).__name__} is no form")


def read_form(text: str) -> Form:
    """A form as printed whole."""
    word = tokens(text)[0].text
    if word not in _READERS:
        raise ReadError(f"line 1: model, dae or step expected, not `{word}`")
    return _READERS[word](text)
