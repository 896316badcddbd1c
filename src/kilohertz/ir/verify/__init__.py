"""Checks of the contracts that head the forms' files."""

from kilohertz.ir.verify.flat import verify_flat

__all__ = ["verify_flat"]
