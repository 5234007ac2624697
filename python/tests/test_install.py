"""The package as it is installed: what the wheel holds, and that it runs without this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import oldham
import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ["liboldham_python.so", "liboldham_fmu.so"]

SCRIPT = """
import sys
import oldham

assert oldham.__file__.startswith(sys.argv[2]), oldham.__file__
model = oldham.Model(sys.argv[1], {"simulation.duration": 0.4})
assert model.run().rows == 101
model.export_fmu("pair.fmu")
print(oldham.__version__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made as `pip install ./python` makes it, of libraries that are built already; cargo is not called."""
    folder = tmp_path_factory.mktemp("wheel")
    # Its build leaves a folder there.
    sources = folder / "checkout" / "python"
    shutil.copytree(ROOT / "python", sources, ignore=shutil.ignore_patterns("build", "*.egg-info", "tests"))
    shutil.copy(ROOT / "Cargo.toml", sources.parent)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
            *("--config-settings=--build-option=--compression=stored", "--wheel-dir", folder),
            *("--disable-pip-version-check", sources),
        ],
        check=True,
    )
    (found,) = folder.glob("*.whl")
    return found


def test_one_wheel_serves_all_versions(wheel: Path) -> None:
    assert wheel.name == f"oldham-{oldham.__version__}-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"oldham-{oldham.__version__}.dist-info/METADATA").decode()
    assert {"oldham/py.typed", "oldham/__init__.py", *(f"oldham/{name}" for name in LIBRARIES)} <= names
    assert not any(name.startswith(("tests/", "tutorials/")) for name in names)
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert [line for line in needed if "extra ==" not in line] == ["Requires-Dist: numpy>=1.23"]


def test_it_runs_without_the_checkout(wheel: Path, examples: Path, tmp_path: Path) -> None:
    """Engine and library for FMUs are those of the wheel."""
    site = tmp_path / "site"
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
            *("--disable-pip-version-check", "--target", site, wheel),
        ],
        check=True,
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    del environment["OLDHAM_LIBRARY"]
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT, examples / "two-mass-damped.toml", site],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.strip() == oldham.__version__
    assert Path("pair.fmu").stat().st_size > 10**6
    # Without its engine, the package says how to get it.
    (site / "oldham" / LIBRARIES[0]).unlink()
    told = subprocess.run(
        [sys.executable, "-c", "import oldham"], capture_output=True, text=True, env=environment
    )
    assert told.returncode == 1 and "install the package by pip, which builds it" in told.stderr
