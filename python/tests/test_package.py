"""The package as a whole: interpreters, tutorials, types, bench."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((PYTHON / "tutorials").glob("*.py")) + sorted((PYTHON / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_run(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if script.stem == "ray_sweep":
        pytest.importorskip("ray")
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")


def test_types_are_checked() -> None:
    environment = {**os.environ, "MYPYPATH": str(PYTHON)}
    told = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--config-file", PYTHON / "pyproject.toml"),
            *("--cache-dir", PYTHON.parent / "target" / "python" / "mypy"),
            *("-p", "oldham"),
        ],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert told.returncode == 0, told.stdout
    scripts = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--config-file", PYTHON / "pyproject.toml"),
            *("--cache-dir", PYTHON.parent / "target" / "python" / "mypy"),
            *("--scripts-are-modules", *map(str, SCRIPTS)),
        ],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert scripts.returncode == 0, scripts.stdout


def test_a_second_interpreter_is_refused() -> None:
    try:
        import _xxsubinterpreters as interpreters  # type: ignore[import-not-found]
    except ImportError:
        import _interpreters as interpreters  # type: ignore[import-not-found]
    script = (
        "try:\n"
        "    import oldham\n"
        "except ImportError as error:\n"
        "    assert 'nterpreter' in str(error), error\n"
        "else:\n"
        "    raise SystemExit('it was imported')\n"
    )
    other = interpreters.create()
    failed = interpreters.run_string(other, f"import sys\nsys.path[:] = {sys.path!r}\n{script}")
    assert not failed, failed
    interpreters.destroy(other)


def test_it_needs_numpy_alone() -> None:
    script = (
        "import sys, oldham\n"
        "assert not {'pandas', 'pyarrow', 'matplotlib', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_bench_tells_its_lines() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "oldham.bench", "--json", "--quick"],
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(told.stdout)
    assert answer["bench"] == "python"
    figures = {figure["name"]: figure for figure in answer["figures"]}
    assert set(figures) == {"step", "subsystem", "columns", "import"}
    for figure in figures.values():
        assert set(figure) == {"name", "value", "unit", "required", "met", "note"}
        assert figure["met"] == (figure["value"] <= figure["required"])
