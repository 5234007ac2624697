"""Builds the engine with the package: `pip install ./python` needs a Rust compiler and nothing else."""

import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
LIBRARY = "liboldham_python.so"


class Build(build_py):
    """The Python files, and the library beside them."""

    def run(self) -> None:
        super().run()
        built = os.environ.get("OLDHAM_LIBRARY")
        if built is None:
            command = ["cargo", "build", "--release", "--package", "oldham-python", "--lib"]
            subprocess.run(command, cwd=HERE, check=True)
            target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
            built = str(target / "release" / LIBRARY)
        shutil.copy2(built, Path(self.build_lib) / "oldham" / LIBRARY)


class Wheel(bdist_wheel):
    """One wheel for all versions of Python: the library knows none of them."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    """What is built belongs to a platform."""

    def has_ext_modules(self) -> bool:
        return True


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=WithLibrary)
