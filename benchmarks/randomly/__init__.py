"""Random Modelica models whose right answers are known by construction, for `random_models.py`."""
