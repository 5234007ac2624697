#!/usr/bin/env python3
"""Makes the pictures of the gallery and its page: docs/gallery.py OLDHAM [NAME ...]

Pictures are those that the program draws, by the commands in docs/gallery.toml; with names only those are made. The
page always shows all.
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import tomllib

from PIL import Image

# Pixels across, and colours: sharp on a dense screen at a third of the page, and small.
WIDTH = 480
COLOURS = 48

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/src/images/gallery"


def picture(name):
    return PICTURES / (name.replace("/", "-") + ".png")


def run(*command, folder, allowed=(0,)):
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if finished.returncode not in allowed:
        sys.exit(f"{shlex.join(command)}\n{finished.stdout}{finished.stderr}")


def draw(oldham, example):
    """One picture, in a folder of its own."""
    if "needs" in example and not (ROOT / example["needs"]).exists():
        print(f"{example['file']}: kept, {example['needs']} is not there")
        return
    model = str(ROOT / "examples" / (example["file"] + ".toml"))
    out = picture(example["file"])
    command, *options = shlex.split(example["draw"])
    with tempfile.TemporaryDirectory() as folder:
        source = model
        if command in ("plot", "handling"):
            source = "result.parquet"
            solve = shlex.split(example.get("run", "--no-analysis"))
            # What an unstable model did until it was stopped is shown as well.
            run(oldham, "run", model, *solve, "--out", source, folder=folder, allowed=(0, 1))
        run(oldham, command, source, *options, "--out", "full.png", folder=folder)
        image = Image.open(os.path.join(folder, "full.png")).convert("RGB")
        image.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
        image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT).save(out, optimize=True)
    print(f"{example['file']}: {os.path.getsize(out) // 1000} kB")


def title_and_description(name):
    with open(ROOT / "examples" / (name + ".toml"), "rb") as file:
        model = tomllib.load(file)["model"]
    return model["name"], model.get("description", "")


def page(subjects):
    lines = [
        "# Gallery",
        "",
        "All examples by subject. Each picture was drawn by the program and leads to the page of its example.",
    ]
    for subject in subjects:
        lines += ["", f"## {subject['title']}", "", '<div class="gallery">', ""]
        for example in subject["examples"]:
            name = example["file"]
            title, description = title_and_description(name)
            link = os.path.normpath("examples/" + example.get("page", name)) + ".md"
            lines += [
                f"[![{title}](images/gallery/{picture(name).name})]({link})",
                f"**[{title}]({link})** `{name}.toml`",
                description,
                "",
            ]
        lines += ["</div>"]
    return "\n".join(lines) + "\n"


def main():
    oldham, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with open(ROOT / "docs/gallery.toml", "rb") as file:
        subjects = tomllib.load(file)["subject"]
    PICTURES.mkdir(parents=True, exist_ok=True)
    for subject in subjects:
        for example in subject["examples"]:
            if not wanted or example["file"] in wanted:
                draw(oldham, example)
    (ROOT / "docs/src/gallery.md").write_text(page(subjects))


if __name__ == "__main__":
    main()
