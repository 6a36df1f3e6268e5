"""The paper's experiments."""

from cape.experiments._demo import run_demo

__all__ = ["run_demo"]
