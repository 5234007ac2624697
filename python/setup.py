"""Builds the engine with the package: `pip install ./python` needs a Rust compiler and nothing else."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.errors import ExecError

HERE = Path(__file__).resolve().parent
LIBRARY = "liboldham_python.so"
# What goes into the FMUs that the package exports.
RUNTIME = "liboldham_fmu.so"
# Licences of what is in both, where the distribution was built.
NOTICES = "third-party.txt"
PACKAGES = ["--package", "oldham-python", "--package", "oldham-fmu-runtime"]


def version() -> str:
    """That of all crates: it is written once."""
    text = (HERE.parent / "Cargo.toml").read_text()
    found = re.search(r'^\[workspace\.package\]\s+version = "([^"]+)"', text, re.MULTILINE)
    assert found is not None, "the workspace has a version"
    return found.group(1)


def built() -> Path:
    """Both libraries in release, in this folder."""
    given = os.environ.get("OLDHAM_LIBRARY")
    if given is not None:
        return Path(given).resolve().parent
    try:
        command = ["cargo", "build", "--release", "--locked", "--lib", *PACKAGES]
        subprocess.run(command, cwd=HERE, check=True)
    except FileNotFoundError:
        raise ExecError("`cargo` was not found: a Rust compiler is needed, see https://rustup.rs") from None
    except subprocess.CalledProcessError as error:
        raise ExecError(f"the engine was not built: `cargo` ended with {error.returncode}") from None
    told = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"],
        cwd=HERE,
        check=True,
        capture_output=True,
        text=True,
    )
    # Wherever a variable or a configuration file of cargo puts it.
    target = re.search(r'"target_directory":"([^"]+)"', told.stdout)
    assert target is not None, "cargo tells where it builds"
    return Path(target.group(1)) / "release"


class Build(build_py):
    """The Python files, and the libraries beside them."""

    def run(self) -> None:
        super().run()
        folder = built()
        for name in (LIBRARY, RUNTIME):
            shutil.copy2(folder / name, Path(self.build_lib) / "oldham" / name)
        if (folder / NOTICES).exists():
            shutil.copy2(folder / NOTICES, Path(self.build_lib) / "oldham" / NOTICES)


class Wheel(bdist_wheel):
    """One wheel for all versions of Python: the libraries know none of them."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    """What is built belongs to a platform."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    version=version(),
    cmdclass={"build_py": Build, "bdist_wheel": Wheel},
    distclass=WithLibrary,
)
