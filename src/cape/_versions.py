"""The versions of Python, cape and other packages that a file or a page records."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

__all__ = ["package_versions"]


def package_versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """Collect the versions that are in use.

    Parameters
    ----------
    packages : iterable of str, default=()
        Names of distributions, as ``pip`` spells them: "scikit-learn", not "sklearn".

    Returns
    -------
    dict of str to str
        The version of each package by its name: first "python" and "cape", then
        ``packages`` in the given order. Packages that are not installed are left out.

    Examples
    --------
    >>> from cape._versions import package_versions
    >>> list(package_versions(["numpy", "no-such-package"]))
    ['python', 'cape', 'numpy']
    """
    # When it is asked for: the package imports nearly all modules before it has a
    # version, and this module stands below all of them.
    cape = import_module("cape")
    versions = {"python": platform.python_version(), "cape": cape.__version__}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
