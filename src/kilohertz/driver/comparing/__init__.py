"""`khz compare`: sides that are files or models, what is compared, the verdict, and why they part."""

from kilohertz.driver.comparing.definition import Definition, definition_of_sides, read_definition
from kilohertz.driver.comparing.outcome import Outcome, run_definition
from kilohertz.driver.comparing.sides import Side

__all__ = ["Definition", "Outcome", "Side", "definition_of_sides", "read_definition", "run_definition"]
