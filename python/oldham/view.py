"""Motions in three dimensions: the page of `oldham view`, in notebooks and as a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Sequence, Union

from .errors import OldhamError


class View:
    """A page that plays a result, without a server.

    A notebook shows it in a frame. The page with its film is part of the notebook's file then; give fewer `frames`
    where that is too much.
    """

    def __init__(self, page: str, rows: int, notes: Sequence[str], title: str, height: int) -> None:
        self.page = page
        """The page as HTML."""
        self.rows = rows
        """Rows of the film."""
        self.notes: list[str] = list(notes)
        """What cannot be shown, and why."""
        self.title = title
        self.height = height

    def save(self, path: Union[str, "os.PathLike[str]"], *, force: bool = False) -> None:
        """Writes the page, for any browser."""
        place = Path(os.fspath(path))
        if place.exists() and not force:
            raise OldhamError(f"{place} already exists; choose another path, or give force=True")
        place.write_text(self.page, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<View of {self.title!r}: {self.rows} rows, {len(self.page) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        # Within an attribute these two mean something, and nothing else does.
        page = self.page.replace("&", "&amp;").replace('"', "&quot;")
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" style="{style}"></iframe>'
