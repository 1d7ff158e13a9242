"""byrote: can we tell whether a code language model learned or memorized?

Notebooks call this library; the layers and the data contract are in README.md.
"""

__version__ = "0.1.0"
