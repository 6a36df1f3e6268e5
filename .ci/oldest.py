"""Print the oldest versions that pyproject.toml admits, as constraints for pip."""

import re
import sys
import tomllib
from pathlib import Path

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?(>=|==)(?P<version>[\w.]+)")


def oldest(project: dict) -> list[str]:
    """List every package with a least version, pinned to it."""
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"]]
    for extra in ("app", "dask", "excel", "paper", "quapy", "sql", "test"):
        requirements += extras[extra]
    pinned = []
    for requirement in requirements:
        match = _REQUIREMENT.fullmatch(requirement)
        if match:
            pinned.append(f"{match['name']}=={match['version']}")
    return pinned


if __name__ == "__main__":
    root = Path(__file__).resolve().parent.parent
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(oldest(settings["project"])) + "\n")
