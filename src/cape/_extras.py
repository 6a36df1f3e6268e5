"""Packages that come with an extra: which one to install, in one line."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["MissingExtra", "require_extra"]


class MissingExtra(ImportError):
    """A package is missing that one of cape's extras installs.

    Examples
    --------
    >>> from cape._extras import MissingExtra
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
    >>> from cape._extras import require_extra
    >>> require_extra("app", "json", what="this")
    >>> require_extra("app", "no_such_package", what="cape.report")
    Traceback (most recent call last):
    cape._extras.MissingExtra: cape.report needs no_such_package, which is not
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
