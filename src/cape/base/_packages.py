"""Other packages: extras that may be missing, versions, and imports that wait."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any


class MissingExtra(ImportError):
    """A package is missing that one of cape's extras installs.

    Examples
    --------
    >>> from cape.base._packages import MissingExtra
    >>> issubclass(MissingExtra, ImportError)
    True
    """


def require_extra(extra: str, *packages: str, what: str) -> None:
    """Raise if a package of an extra is missing.

    Parameters
    ----------
    extra : str
        The extra that installs the packages.
    *packages : str
        Names by which they are imported.
    what : str
        What needs them.

    Raises
    ------
    MissingExtra
        With the command that installs them.

    Examples
    --------
    >>> from cape.base._packages import require_extra
    >>> require_extra("app", "json", what="this")
    >>> require_extra("app", "no_such_package", what="cape_app.pages")
    Traceback (most recent call last):
    cape.base._packages.MissingExtra: cape_app.pages needs no_such_package, which is not
    installed: pip install "cape-fair[app]".
    """
    # `find_spec` does not import the package.
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MissingExtra(
            f"{what} needs {', '.join(missing)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not installed: pip install "
            f'"cape-fair[{extra}]".'
        )


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
    >>> from cape.base._packages import package_versions
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


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package, which imports names when they are used.

    scikit-learn takes a second or two to import. What does not need it, such as the
    help of the command line or a note on a file that exists already, should not wait.

    Parameters
    ----------
    package : str
        Its name, for the error.
    homes : mapping from str to str
        The module of each public name.

    Returns
    -------
    callable

    Examples
    --------
    >>> get = lazily("cape", {"Evidence": "cape.evidence._evidence"})
    >>> get("Evidence").__name__
    'Evidence'
    >>> get("evidences")
    Traceback (most recent call last):
    AttributeError: module 'cape' has no attribute 'evidences'
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return get
