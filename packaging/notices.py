"""The licences of what is linked into programs, as they ask to be given along."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")


def notices(root: Path, packages: list[str]) -> str:
    """Names and licences of what is linked into these packages, then each licence text once."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    told = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    metadata = json.loads(told.stdout)
    known = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [one for one, package in known.items() if package["name"] in packages]
    reached: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one in reached:
            continue
        reached.add(one)
        for other in nodes[one]["deps"]:
            # Dependencies of tests are not in the program.
            if any(kind["kind"] != "dev" for kind in other["dep_kinds"]):
                waiting.append(other["pkg"])
    own = set(metadata["workspace_members"])
    crates = sorted((known[one] for one in reached - own), key=lambda one: one["name"])
    lines = ["Oldham holds code of these projects, under the licences that stand below.", ""]
    texts: dict[str, tuple[str, list[str]]] = {}
    sources = [(crate, Path(crate["manifest_path"]).parent) for crate in crates]
    # The page of `oldham view` is embedded with what it consists of.
    for name in json.loads((root / "web/package.json").read_text())["dependencies"]:
        folder = root / "web/node_modules" / name
        package = json.loads((folder / "package.json").read_text())
        repository = package["repository"]
        package["repository"] = repository["url"] if isinstance(repository, dict) else repository
        sources.append((package, folder))
    for package, folder in sources:
        name = f"{package['name']} {package['version']}"
        lines.append(f"{name}: {package['license']}, {package['repository'] or 'no address'}")
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.name.upper().startswith(NAMES):
                text = path.read_text(errors="replace").strip()
                digest = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
                texts.setdefault(digest, (text, []))[1].append(name)
    for text, names in texts.values():
        lines += ["", "-" * 80, ", ".join(dict.fromkeys(names)), "", text]
    return "\n".join(lines) + "\n"
