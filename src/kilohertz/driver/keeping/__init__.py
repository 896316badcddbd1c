"""What a compilation made, kept for the next process that asks for the same."""

from kilohertz.driver.keeping.kept_forms import Keeping

__all__ = ["Keeping"]
