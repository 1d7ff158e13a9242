"""Notebooks: run, kept clean and checked. `python -m byrote.notebooks` runs them.

A notebook itself needs only `items`, for its list parameters.
"""

from byrote.notebooks.parameters import items
from byrote.notebooks.running import Result, run, selected
from byrote.notebooks.shape import check

__all__ = ["Result", "check", "items", "run", "selected"]
