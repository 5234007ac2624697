"""What the tests share."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]


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
