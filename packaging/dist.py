"""What is given to others: a wheel and an archive for Linux on x86-64 with glibc 2.28 or newer.

`make dist` calls it. Both lie in target/dist with their checksums, after they were tried (`tried.py`). With
`--built FOLDER` it packs what was built elsewhere.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

import tried
from notices import notices

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "target" / "dist"
GLIBC = (2, 28)
PLATFORM = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64"
TRIPLE = "x86_64-unknown-linux-gnu"
PACKAGES = ["oldham", "oldham-python", "oldham-fmu-runtime"]
LIBRARIES = ["liboldham_python.so", "liboldham_fmu.so"]
SHELLS = {
    "bash": "share/bash-completion/completions/oldham",
    "zsh": "share/zsh/site-functions/_oldham",
    "fish": "share/fish/vendor_completions.d/oldham.fish",
}


def tool(*words: str | Path, **variables: str) -> str:
    """What a command prints; its failure is ours."""
    environment = {**os.environ, **variables}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` ended with {done.returncode}")
    return done.stdout


def built() -> Path:
    """The command and both libraries, linked by zig against the older glibc."""
    print("building; this takes a while", flush=True)
    target = OUT / "cargo"
    packages = [word for name in PACKAGES for word in ("--package", name)]
    triple = f"{TRIPLE}.{GLIBC[0]}.{GLIBC[1]}"
    tool(
        *("cargo", "zigbuild", "--release", "--locked", "--target", triple, *packages),
        CARGO_TARGET_DIR=str(target),
        CARGO_PROFILE_RELEASE_STRIP="symbols",
    )
    return target / TRIPLE / "release"


def check(folder: Path) -> None:
    """Nothing may need a newer glibc."""
    for name in ("oldham", *LIBRARIES):
        needed = glibc_of(folder / name)
        if needed > GLIBC:
            sys.exit(f"{name} needs glibc {needed[0]}.{needed[1]}, which is newer than 2.28")
        size = (folder / name).stat().st_size / 1e6
        print(f"{name}: {size:.1f} MB, glibc {needed[0]}.{needed[1]}", flush=True)


def glibc_of(path: Path) -> tuple[int, int]:
    """The newest version of glibc of which a file needs a symbol."""
    newest = (0, 0)
    with path.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if isinstance(section, GNUVerNeedSection):
                for _, versions in section.iter_versions():
                    for version in versions:
                        found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version.name)
                        if found:
                            newest = max(newest, (int(found[1]), int(found[2])))
    return newest


def archive(folder: Path, version: str) -> Path:
    """The command with what belongs to it, to be unpacked below any prefix."""
    name = f"oldham-{version}-x86_64-linux"
    prefix = OUT / name
    shutil.rmtree(prefix, ignore_errors=True)
    command = prefix / "bin" / "oldham"
    for source, place in {
        folder / "oldham": command,
        folder / "liboldham_fmu.so": prefix / "lib" / "liboldham_fmu.so",
        folder / "third-party.txt": prefix / "share/doc/oldham/third-party.txt",
        ROOT / "LICENSE": prefix / "share/doc/oldham/LICENSE",
        ROOT / "CHANGELOG.md": prefix / "share/doc/oldham/CHANGELOG.md",
    }.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, place)
    for shell, script in SHELLS.items():
        (prefix / script).parent.mkdir(parents=True, exist_ok=True)
        (prefix / script).write_text(tool(command, "completions", shell))
    tool(command, "man", "--out", prefix / "share/man/man1")
    packed = OUT / f"{name}.tar.gz"
    # The same bytes from the same files: no owner, no time, one order.
    with packed.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as stream:
        with tarfile.open(fileobj=stream, mode="w") as tar:
            for path in sorted(prefix.rglob("*")):
                entry = tar.gettarinfo(path, f"{name}/{path.relative_to(prefix)}")
                entry.uid = entry.gid = entry.mtime = 0
                entry.uname = entry.gname = ""
                if entry.isfile():
                    with path.open("rb") as content:
                        tar.addfile(entry, content)
                else:
                    tar.addfile(entry)
    shutil.rmtree(prefix)
    return packed


def wheel(folder: Path) -> Path:
    """The Python package with both libraries; its tag says for which glibc it is."""
    raw = OUT / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    tool(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", raw, "./python"),
        OLDHAM_LIBRARY=str(folder / LIBRARIES[0]),
    )
    (plain,) = raw.glob("*.whl")
    for old in OUT.glob("*.whl"):
        old.unlink()
    tool("auditwheel", "repair", "--plat", PLATFORM, "--only-plat", "--wheel-dir", OUT, plain)
    shutil.rmtree(raw)
    (found,) = OUT.glob("*.whl")
    told = " ".join(tool("auditwheel", "show", found).split())
    # The oldest that it is consistent with; one that needs less runs there, too.
    tags = re.findall(r'"manylinux_(\d+)_(\d+)_x86_64"', told)
    if not tags or min((int(major), int(minor)) for major, minor in tags) > GLIBC:
        sys.exit(f"{found.name} is not for {PLATFORM}: {told}")
    print(f"auditwheel: {told}")
    return found


def checksums(paths: list[Path]) -> None:
    """As `sha256sum --check` reads them."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths]
    (OUT / "SHA256SUMS").write_text("".join(lines))


def main() -> None:
    """Builds, packs, tries, tells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--built", type=Path, metavar="FOLDER", help="command and libraries, built already")
    given = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    folder = given.built.resolve() if given.built else built()
    check(folder)
    (folder / "third-party.txt").write_text(notices(ROOT, PACKAGES))
    version = tool(folder / "oldham", "--version").split()[-1]
    paths = [archive(folder, version), wheel(folder)]
    checksums(paths)
    tried.archive(paths[0])
    tried.wheel(paths[1])
    if not given.built:
        tried.built_here()
    for path in paths:
        print(f"{path.relative_to(ROOT)} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
