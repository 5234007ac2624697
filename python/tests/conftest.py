"""What the tests share."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]


def _without_symbols() -> None:
    """Both libraries without what debuggers need, which would be packed again and again."""
    built = os.environ.get("OLDHAM_LIBRARY")
    if built is None:
        return
    folder = Path(tempfile.mkdtemp(prefix="oldham-libraries-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("liboldham_python.so", "liboldham_fmu.so"):
        subprocess.run(["strip", "-o", folder / name, Path(built).with_name(name)], check=True)
    os.environ["OLDHAM_LIBRARY"] = str(folder / "liboldham_python.so")


# Before any test imports the package.
_without_symbols()


@pytest.fixture
def examples() -> Path:
    return ROOT / "examples"


@pytest.fixture(scope="session")
def command() -> Path:
    """The command line program, to compare with."""
    path = ROOT / "target" / "debug" / "oldham"
    if not path.exists():
        pytest.skip("the command was not built")
    return path


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    # Other processes find the package, too.
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
