"""Kilohertz: Modelica models to hard real time."""

__version__ = "0.1.0"
