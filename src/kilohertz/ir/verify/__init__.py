"""Checks of the contracts that head the forms' files; a breach is our mistake: an InternalError that says what."""

from typing import Any

from kilohertz.ir.dae import Dae
from kilohertz.ir.flat import Flat
from kilohertz.ir.ordered import Ordered
from kilohertz.ir.step import Step
from kilohertz.ir.verify.dae import verify_dae
from kilohertz.ir.verify.flat import verify_flat
from kilohertz.ir.verify.ordered import verify_ordered
from kilohertz.ir.verify.step import verify_step

__all__ = ["verify_dae", "verify_flat", "verify_form", "verify_ordered", "verify_step"]


def verify_form(form: Any) -> None:
    """Check the contract of a form, whichever it is."""
    match form:
        case Flat():
            verify_flat(form)
        case Dae():
            verify_dae(form)
        case Ordered():
            verify_ordered(form)
        case Step():
            verify_step(form)
