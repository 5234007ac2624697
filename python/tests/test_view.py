"""What notebooks show: the motion in three dimensions, tables, pictures."""

from __future__ import annotations

import html
import pickle
import re
from pathlib import Path

import oldham
import pytest
from models import oscillator, pushed

PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def crank() -> oldham.Results:
    root = Path(__file__).resolve().parents[2]
    model = oldham.Model(root / "examples" / "slider-crank.toml", {"simulation.duration": 0.05})
    return model.run()


def test_a_frame_holds_the_page_and_nothing_from_elsewhere(crank: oldham.Results) -> None:
    view = crank.view(frames=10)
    assert 2 <= view.rows <= 10
    shown = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts allow-downloads" style="[^"]*"></iframe>', view._repr_html_())
    assert shown is not None
    assert html.unescape(shown[1]) == view.page
    assert view.page.startswith("<!doctype html>") and view.page.count('id="film">') == 1
    view.save("crank.html")
    assert Path("crank.html").read_text(encoding="utf-8") == view.page
    with pytest.raises(oldham.OldhamError, match="already exists"):
        view.save("crank.html")
    view.save("crank.html", force=True)
    assert "rows" in repr(view)


def test_results_of_files_and_of_other_processes_know_their_model(
    crank: oldham.Results, examples: Path
) -> None:
    page = crank.view(frames=10).page
    assert pickle.loads(pickle.dumps(crank)).view(frames=10).page == page
    model = oldham.Model(examples / "slider-crank.toml", {"simulation.duration": 0.05})
    written = model.run_to("crank.parquet")
    again = oldham.read("crank.parquet")
    assert written.view(frames=10).page == again.view(frames=10).page


def test_results_without_a_model_need_one() -> None:
    model = oldham.Model.from_dict(oscillator())
    model.run_to("one.csv")
    told = oldham.read("one.csv")
    with pytest.raises(oldham.OldhamError, match=r"view\(model\)"):
        told.view()
    assert told.view(model).rows == 101
    with pytest.raises(oldham.OldhamError, match="at least two frames"):
        told.view(model, frames=1)


def test_results_of_python_parts_are_pickled_without_their_classes() -> None:
    @oldham.subsystem("weight")
    class Weight:
        inputs = {"x": oldham.ports.translation}
        outputs = {"force": "N"}

        def send(self, state: None, t: float, u: object) -> float:
            return -1.0

    model = oldham.Model.from_dict(pushed("weight"), kinds=[Weight])
    results = model.run()
    assert results.view().rows == 101
    copy = pickle.loads(pickle.dumps(results))
    with pytest.raises(oldham.OldhamError, match=r"view\(model\)"):
        copy.view()
    assert copy.view(model).page == results.view().page


def test_studies_are_tables_and_pictures(examples: Path) -> None:
    model = oldham.Model(examples / "two-mass-damped.toml")
    verdict = model.check(along_run=False)
    assert "<th>spectral_radius</th>" in verdict._repr_html_()
    poles = model.poles()
    assert poles["poles"] and poles._repr_html_().count("<table>") >= 2
    assert "approach" in model.compensate()._repr_html_()
    assert "pole in 1/s" in model.linearise()._repr_html_()
    curve = model.stability_curve(("kc", 10.0, 1000.0, 3))
    grid = model.stability_map(("kc", 10, 1000, 3), ("simulation.step", 1e-3, 4e-3, 2))
    for study in (curve, grid):
        picture = study._repr_png_()
        assert picture is not None and picture.startswith(PNG)
    sweep = oldham.Model.from_dict(oscillator()).sweep({"k": [25.0, 100.0]}, ["max(one.x.x)"])
    assert sweep._repr_html_().count("<tr>") == 3


def test_what_tables_show_is_escaped_and_short() -> None:
    rows = oldham.Rows({"name": f"<{n}>", "values": list(range(20))} for n in range(30))
    shown = rows._repr_html_()
    assert "&lt;0&gt;" in shown and "<0>" not in shown
    assert "and 12 more" in shown and "and 10 more" in shown
    assert oldham.Findings({"a": None, "b": 1 / 3, "c": {"d": [1, 2]}})._repr_html_() == (
        "<table><tr><th>b</th><td>0.3333333333</td></tr>"
        "<tr><th>c</th><td><table><tr><th>d</th><td>1, 2</td></tr></table></td></tr></table>"
    )
