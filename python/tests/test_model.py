"""Models: read, written, refused."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path

import numpy as np
import oldham
import pytest
from models import oscillator


def test_a_file_tells_what_it_is(examples: Path) -> None:
    model = oldham.Model(examples / "two-mass-damped.toml")
    assert model.name == "Damped two-mass oscillator"
    assert model.subsystems == ["left", "right"]
    assert (model.start, model.duration, model.step, model.steps) == (0.0, 10.0, 4e-3, 2500)
    assert model.parameters["kc"] == 100.0
    assert model.columns["left.x1.v"] == "m/s"
    assert "Unstable" in model._repr_html_()
    assert "left, right" in repr(model)


def test_settings_are_those_of_the_command(examples: Path) -> None:
    model = oldham.Model(examples / "two-mass-damped.toml", {"kc": 50, "simulation.step": 1e-3})
    assert (model.parameters["kc"], model.step) == (50.0, 1e-3)
    other = model.with_settings({"schedule.output_update": True}, kc=60.0)
    assert other.settings == {"kc": 60.0, "simulation.step": 1e-3, "schedule.output_update": True}
    assert other.parameters["kc"] == 60.0


def test_dictionaries_with_numbers_of_numpy_are_models() -> None:
    data = oscillator()
    data["parameters"]["k"] = np.float64(100.0)
    data["lumped"]["one"]["springs"]["wall"]["between"] = ("ground", "x")
    x = oldham.Model.from_dict(data).run()["one.x.x"]
    t = np.linspace(0.0, 1.0, 101)
    assert np.abs(x - np.sin(10 * t) / 10).max() < 1e-13


def test_a_builder_writes_the_same_dictionary() -> None:
    builder = oldham.Builder("Oscillator", duration=1.0, step=0.01, k=100.0)
    builder.add("lumped.one", **oscillator()["lumped"]["one"])
    assert builder.data == oscillator()
    assert builder.model().run()["one.x.x"].shape == (101,)


def test_wrong_keys_are_told_by_their_path() -> None:
    data = oscillator()
    wall = data["lumped"]["one"]["springs"]["wall"]
    wall["stifness"] = wall.pop("stiffness")
    data["simulation"]["step"] = -1.0
    with pytest.raises(oldham.ModelError) as refused:
        oldham.Model.from_dict(data)
    places = [problem.place for problem in refused.value.problems]
    assert places[0] == "simulation.step"
    assert "lumped.one.springs.wall.stifness" in places
    assert "did you mean `stiffness`?" in str(refused.value)


def test_the_text_is_that_of_the_command(examples: Path, command: Path, tmp_path: Path) -> None:
    """The same problems with the same words and places, whoever reads the file."""
    text = (examples / "two-mass-damped.toml").read_text().replace("stiffness", "stifness")
    path = tmp_path / "typo.toml"
    path.write_text(text)
    with pytest.raises(oldham.ModelError) as refused:
        oldham.Model(path)
    told = subprocess.run([command, "check", path], capture_output=True, text=True)
    assert told.returncode == 2
    words = " ".join(told.stderr.replace("│", " ").split())
    for problem in refused.value.problems:
        assert " ".join(problem.message.split()) in words
        assert problem.help is None or " ".join(problem.help.split()) in words
        line = problem.place.split(":")[-2]
        assert f":{line}:" in told.stderr
    copy = pickle.loads(pickle.dumps(refused.value))
    assert str(copy) == str(refused.value)


@pytest.mark.parametrize(
    ("value", "told"),
    [(None, "is None"), (object(), "of type object"), ({1: 2}, "is not a text"), (1j, "complex")],
)
def test_what_a_model_cannot_hold_is_named(value: object, told: str) -> None:
    data = oscillator()
    data["parameters"]["bad"] = value
    with pytest.raises(TypeError, match=told):
        oldham.Model.from_dict(data)


def test_texts_survive_whatever_is_in_them() -> None:
    name = 'quotes " and \\ and\nlines \x7f \u2192 \t'
    data = oscillator()
    data["model"]["name"] = name
    assert oldham.Model.from_dict(data).name == name


def test_a_file_that_is_not_there_is_a_problem() -> None:
    with pytest.raises(oldham.ModelError, match="missing.toml"):
        oldham.Model("missing.toml")


def test_models_are_pickled_with_their_settings() -> None:
    model = oldham.Model.from_dict(oscillator(), settings={"k": 50.0})
    copy = pickle.loads(pickle.dumps(model))
    assert copy.settings == {"k": 50.0}
    assert np.array_equal(copy.run()["one.x.x"], model.run()["one.x.x"])
