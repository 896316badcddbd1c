"""FMUs as Modelica: a package with a model whose ports are the FMU's inputs and outputs."""
