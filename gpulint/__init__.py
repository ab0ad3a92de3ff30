"""gpulint: a static linter for GPU containers."""

__version__ = "0.1.0"
