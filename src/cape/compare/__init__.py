"""Other classifiers to compare with, behind one small interface."""

from cape.compare._max_acc import MaxAcc

__all__ = ["MaxAcc"]
