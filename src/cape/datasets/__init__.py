"""Data: ``make_`` invents it, ``fetch_`` downloads, verifies and caches it."""

from cape.datasets._synthetic import make_synthetic

__all__ = ["make_synthetic"]
