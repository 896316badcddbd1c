"""Lets the tests here import `hand_made` and what runs a Step by `interp` (importlib mode adds no path)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.with_name("passes")))
