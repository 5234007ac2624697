"""Archive, wheel and a build of one's own as those use them who get them: elsewhere, in clean environments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "two-mass-damped.toml"
LIBRARY = "liboldham_fmu.so"
VERSIONS = [(3, minor) for minor in range(10, 15)]

SCRIPT = """
import sys, oldham
model = oldham.Model(sys.argv[1], {"simulation.duration": 0.4})
results = model.run()
assert results.rows == 101 and abs(results["left.x1.x"]).max() > 0
assert "<iframe" in results.view()._repr_html_()
model.export_fmu("pair.fmu", outputs=["left.x1"])
text = '''
model.name = "Back again"
simulation = { duration = 0.4, step = 4e-3 }
[fmu.it]
file = "pair.fmu"
process = "shared"
'''
back = oldham.Model.from_text(text, "back.toml").run(every=1)
assert (back["it.left.x1.motion.x"] == results["left.x1.x"]).all()
print(oldham.__version__)
"""


def run(*words: str | Path, folder: Path) -> str:
    """What a command prints, without what this environment has."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("OLDHAM_", "PYTHON", "VIRTUAL_ENV"))
    }
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def archive(path: Path) -> None:
    """Unpacks it, exports an FMU by the library in it, and runs the FMU."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with tarfile.open(path) as tar:
            tar.extractall(folder)
        (prefix,) = folder.iterdir()
        command = prefix / "bin" / "oldham"
        for version in ("2", "3"):
            fmu = f"pair-{version}.fmu"
            run(command, "fmu", "export", EXAMPLE, "-o", fmu, "--fmi", version, folder=folder)
            run(command, "fmu", "validate", fmu, folder=folder)
        for place in ("share/man/man1/oldham.1", "share/man/man1/oldham-run.1"):
            assert (prefix / place).exists(), place
    print(f"{path.name}: unpacked; FMUs of both versions exported and validated")


def built_here() -> None:
    """Installs the command by Cargo; FMUs need the library, which it says, and then they are written."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        target = ROOT / "target" / "dist" / "cargo-install"
        source = ROOT / "crates" / "cli"
        install = ["cargo", "install", "--quiet", "--locked", "--path", source, "--root", folder]
        run(*install, "--target-dir", target, folder=ROOT)
        command = folder / "bin" / "oldham"
        export = [str(command), "fmu", "export", str(EXAMPLE), "-o", "pair.fmu"]
        done = subprocess.run(export, cwd=folder, capture_output=True, text=True)
        told = " ".join(done.stderr.split())
        missing = f"{LIBRARY}, is not in {folder / 'bin'} or {folder / 'lib'}"
        help = "cargo build --release --package oldham-fmu-runtime"
        if done.returncode == 0 or missing not in told or help not in told:
            sys.exit(f"without the library `fmu export` should say where it looks, but says: {told}")
        build = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "oldham-fmu-runtime"]
        run(*build, "--target-dir", target, folder=ROOT)
        shutil.copy2(target / "release" / LIBRARY, folder / "bin")
        run(*export, folder=folder)
        run(command, "fmu", "validate", "pair.fmu", folder=folder)
    print("cargo install: the library is asked for, and found beside the command")


def pythons() -> dict[tuple[int, int], str]:
    """The CPythons that are here, by version."""
    places = [f"python{major}.{minor}" for major, minor in VERSIONS]
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True).stdout.strip()
        places += [str(path) for path in sorted(Path(root).glob("versions/*/bin/python3"))]
    found: dict[tuple[int, int], str] = {}
    script = "import sys; print(sys.implementation.name, *sys.version_info[:2])"
    for place in places:
        if shutil.which(place) is None:
            continue
        told = subprocess.run([place, "-c", script], capture_output=True, text=True).stdout.split()
        if len(told) == 3 and told[0] == "cpython":
            found.setdefault((int(told[1]), int(told[2])), place)
    return {version: place for version, place in found.items() if version in VERSIONS}


def wheel(path: Path) -> None:
    """Installs it with NumPy alone in every CPython that is here."""
    there = pythons()
    for version, python in sorted(there.items()):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            run(python, "-m", "venv", "venv", folder=folder)
            own = folder / "venv" / "bin" / "python"
            run(own, "-m", "pip", "install", "--quiet", path, folder=folder)
            told = run(own, "-c", SCRIPT, EXAMPLE, folder=folder)
            print(f"{path.name}: {told.strip()} runs in CPython {version[0]}.{version[1]}", flush=True)
    missing = [f"{major}.{minor}" for major, minor in VERSIONS if (major, minor) not in there]
    if missing:
        print(f"not tried, because they are not here: CPython {', '.join(missing)}")
