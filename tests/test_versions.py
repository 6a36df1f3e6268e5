"""The versions that files and pages record are those that are in use."""

import platform
import subprocess
import sys
from importlib.metadata import version

import pytest

import cape
from cape._versions import package_versions


def test_python_and_cape_are_always_included():
    assert package_versions() == {
        "python": platform.python_version(),
        "cape": cape.__version__,
    }


@pytest.mark.parametrize("package", ["numpy", "scikit-learn", "pandas"])
def test_versions_are_those_of_the_installed_packages(package):
    assert package_versions([package])[package] == version(package)


def test_the_version_is_that_of_the_module():
    import numpy
    import sklearn

    versions = package_versions(("numpy", "scikit-learn"))
    assert versions["numpy"] == numpy.__version__
    assert versions["scikit-learn"] == sklearn.__version__


def test_packages_that_are_not_installed_are_left_out():
    versions = package_versions(["no-such-package", "numpy", "nor-this-one"])
    assert list(versions) == ["python", "cape", "numpy"]


def test_packages_keep_the_given_order():
    packages = ["scipy", "numpy", "joblib"]
    assert list(package_versions(iter(packages))) == ["python", "cape", *packages]


def test_the_module_can_be_imported_first():
    """It reads the version of cape, which imports nearly everything else."""
    code = "import cape._versions as v; print(v.package_versions()['cape'])"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == cape.__version__
