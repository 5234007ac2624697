"""Makes FMUs of the C sources beside this file, and packages of the systems: python3 examples/fmu/build.py."""

import os
import pathlib
import re
import subprocess
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent

for source in sorted(HERE.glob("*.c")):
    description = source.with_suffix(".xml").read_text()
    name = re.search(r'modelIdentifier="([^"]+)"', description).group(1)
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / f"{name}.so"
        compiler = os.environ.get("CC", "cc")
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O2", "-o", library, source, "-lm"], check=True
        )
        with zipfile.ZipFile(source.with_suffix(".fmu"), "w", zipfile.ZIP_DEFLATED) as fmu:
            fmu.writestr("modelDescription.xml", description)
            fmu.write(library, f"binaries/linux64/{name}.so")
    print(source.with_suffix(".fmu").relative_to(HERE.parent.parent))

for system in sorted(HERE.glob("*-system")):
    path = HERE / (system.name.removesuffix("-system") + ".ssp")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for file in sorted(system.rglob("*.ss?")):
            package.write(file, file.relative_to(system))
        text = (system / "SystemStructure.ssd").read_text()
        for name in sorted(set(re.findall(r'source="resources/([^"]+\.fmu)"', text))):
            package.write(HERE / name, f"resources/{name}")
    print(path.relative_to(HERE.parent.parent))
