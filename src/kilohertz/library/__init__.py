"""Our own Modelica library `Kilohertz` (data only)."""
