"""Runs and what they give."""

from __future__ import annotations

import gc
import pickle
import subprocess
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import oldham
import polars
import pyarrow
import pytest
from models import oscillator


def test_a_run_has_the_bits_of_the_command(examples: Path, command: Path, tmp_path: Path) -> None:
    path = examples / "two-mass-damped.toml"
    out = tmp_path / "command.parquet"
    subprocess.run([command, "run", path, "--no-analysis", "--out", out], check=True, stdout=-3)
    told = oldham.read(out)
    here = oldham.Model(path).run()
    assert list(here) == list(told)
    assert here.units == told.units and here.units["left.fc"] == "N"
    assert all(np.array_equal(here[name], told[name]) for name in here)
    assert told.title == here.title == "Damped two-mass oscillator"


def test_arrays_are_the_memory_of_the_engine() -> None:
    results = oldham.Model.from_dict(oscillator()).run()
    x = results["one.x.x"]
    again = results["one.x.x"]
    assert x.__array_interface__["data"] == again.__array_interface__["data"]
    table = pyarrow.table(results)
    place = table.column("one.x.x").chunk(0).buffers()[1].address
    assert place == x.__array_interface__["data"][0]
    assert table.schema.field("one.x.v").metadata == {b"unit": b"m/s"}
    polar = polars.DataFrame(results)
    assert polar.columns == list(results)
    assert np.shares_memory(polar["one.x.x"].to_numpy(), x)
    frame = results.frame()
    assert np.shares_memory(frame["one.x.x"].to_numpy(), x)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1.0
    with pytest.raises(ValueError):
        x.flags.writeable = True


def test_arrays_outlive_their_results() -> None:
    results = oldham.Model.from_dict(oscillator()).run()
    x, table = results["one.x.x"], pyarrow.table(results)
    expected = x.copy()
    del results
    gc.collect()
    assert np.array_equal(x, expected)
    del x
    gc.collect()
    assert np.array_equal(table.column("one.x.x").to_numpy(), expected)


def test_results_are_a_mapping_with_help() -> None:
    results = oldham.Model.from_dict(oscillator()).run(every=10)
    assert results.rows == 11 and len(results.time) == 11
    assert results.matching("one.x") == ["one.x.x", "one.x.v", "one.x.a"]
    assert "one.x.v" in results and "one.x.q" not in results
    with pytest.raises(KeyError, match="one.x.x"):
        results["one.x.X"]
    assert results.summary["time"] == pytest.approx(1.0)
    assert "<table>" in results._repr_html_()
    copy = pickle.loads(pickle.dumps(results))
    assert np.array_equal(copy["one.x.v"], results["one.x.v"]) and copy.units == results.units


def test_settings_of_one_run_leave_the_model_alone() -> None:
    model = oldham.Model.from_dict(oscillator())
    x = model.run({"k": 400.0})["one.x.x"]
    t = np.linspace(0.0, 1.0, 101)
    assert np.abs(x - np.sin(20 * t) / 20).max() < 1e-13
    assert model.parameters["k"] == 100.0


def test_progress_is_told_and_may_end_a_run() -> None:
    model = oldham.Model.from_dict(oscillator(duration=1e5))
    seen: list[float] = []

    def enough(share: float, t: float, factor: float) -> None:
        seen.append(share)
        if len(seen) == 2:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough") as ended:
        model.run(every=1000, progress=enough)
    assert 0 < seen[0] < seen[1] < 1
    results = ended.value.results  # type: ignore[attr-defined]
    assert results.status == "interrupted" and results.rows > 1


def test_a_bar_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    oldham.Model.from_dict(oscillator(duration=2e4)).run(every=1000, progress=True)
    assert "Oscillator [" in capsys.readouterr().err


def test_ctrl_c_ends_a_run_with_what_there_is() -> None:
    import _thread

    model = oldham.Model.from_dict(oscillator(duration=1e6))
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt) as ended:
        model.run(every=1000)
    assert time.perf_counter() - started < 5.0
    results = ended.value.results  # type: ignore[attr-defined]
    assert results.status == "interrupted" and 0 < results.time[-1] < 1e6


def test_other_threads_go_on_while_a_run_does() -> None:
    model = oldham.Model.from_dict(oscillator(duration=2e4))
    counted = 0
    done = threading.Event()

    def run() -> None:
        model.run(every=1000)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    while not done.is_set() and counted < 10**7:
        counted += 1
    thread.join()
    assert counted > 1000


def test_runs_in_a_file_are_continued_bit_for_bit(examples: Path) -> None:
    model = oldham.Model(examples / "two-mass-damped.toml")
    whole = model.run()
    half = model.with_settings({"simulation.duration": 5.0})
    half.run_to("half.parquet", checkpoint_every=5.0)
    rest = model.run_to("rest.parquet", resume="half.parquet.checkpoint")
    assert rest.time[0] >= 5.0
    assert np.array_equal(rest["left.x1.x"], whole["left.x1.x"][-rest.rows :])
    with pytest.raises(oldham.StudyError, match="already exists|exists"):
        model.run_to("rest.parquet")
    with pytest.raises(oldham.StateError, match="another model"):
        model.with_settings(kc=1.0).run_to("other.parquet", resume="half.parquet.checkpoint")


def test_a_run_that_fails_says_when_and_keeps_what_there_is(examples: Path) -> None:
    # The plain exchange of this pair gains energy until the bound ends it.
    path = examples / "two-mass-force-displacement.toml"
    model = oldham.Model(path, {"simulation.duration": 1000.0, "simulation.energy_bound": 2.0})
    with pytest.raises(oldham.RunError, match="stored energy") as failed:
        model.run()
    error = failed.value
    assert error.results is not None and error.results.status == "failed"
    assert error.time is not None and error.results.time[-1] <= error.time + 1e-9


def _peak(model: oldham.Model, settings: dict[str, float]) -> float:
    return float(np.abs(model.run(settings)["one.x.x"]).max())


def test_runs_go_to_other_processes() -> None:
    model = oldham.Model.from_dict(oscillator())
    values = [{"k": k} for k in (25.0, 100.0, 400.0)]
    with ProcessPoolExecutor(2) as pool:
        peaks = list(pool.map(partial(_peak, model), values))
    # The largest sample of sin(w t) / w.
    t = np.linspace(0.0, 1.0, 101)
    expected = [np.abs(np.sin(w * t) / w).max() for w in (5.0, 10.0, 20.0)]
    assert peaks == pytest.approx(expected, abs=1e-12)


def test_a_sweep_has_a_row_for_each_run() -> None:
    model = oldham.Model.from_dict(oscillator())
    sweep = model.sweep({"k": [25.0, 100.0], "simulation.step": [0.01, 0.02]}, ["max(one.x.x)"])
    frame = sweep.frame()
    assert list(frame["k"]) == [25.0, 25.0, 100.0, 100.0]
    assert list(frame["status"]) == ["finished"] * 4
    for run, row in zip(sweep, sweep.rows()):
        assert row["max(one.x.x)"] == run["one.x.x"].max()
    assert sweep.plot().axes
    ranged = model.sweep({"k": (25.0, 100.0, 4)}, folder="kept")
    assert [row["k"] for row in ranged.rows()] == [25.0, 50.0, 75.0, 100.0]
    assert Path("kept/index.csv").exists()
    with pytest.raises(oldham.OldhamError, match="as a list"):
        model.sweep({"k": 3.0})
    with pytest.raises(ValueError, match="no figure of merit"):
        model.sweep({"k": [1.0]}, ["largest"])


def test_pictures_have_a_panel_for_each_unit() -> None:
    results = oldham.Model.from_dict(oscillator()).run()
    figure = results.plot("one.x")
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "one.x.x in m",
        "one.x.v in m/s",
        "one.x.a in m/s2",
    ]


def test_files_that_are_no_results_are_refused(tmp_path: Path) -> None:
    (tmp_path / "no.parquet").write_bytes(b"PAR1 not")
    with pytest.raises(oldham.OldhamError, match="no.parquet"):
        oldham.read("no.parquet")
