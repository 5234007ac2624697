"""Studies, against closed forms and other tools."""

from __future__ import annotations

from pathlib import Path

import control
import numpy as np
import oldham
import pytest
from models import external


def test_a_map_is_that_of_the_recurrence(examples: Path) -> None:
    """Two masses, each with semi-implicit Euler, the force held: radius by the matrix of a step."""
    model = oldham.Model(examples / "two-mass-damped.toml")
    study = model.stability_map(("kc", 10, 1000, 5), ("simulation.step", 1e-3, 4e-3, 3, "linear"))
    assert study.own.shape == (3, 5) and study.here == (100.0, 4e-3)
    assert study.plot().axes
    x = model.stability_curve(("kc", 10.0, 1000.0, 5))
    assert np.allclose(x.radius[next(iter(x.radius))], study.own[-1], rtol=0, atol=1e-8)
    assert x.plot().axes
    border = model.stability_borders(("simulation.step", 1e-4, 8e-3))
    (found,) = border.values()
    assert len(found) == 1
    for step, stable in ((0.98 * found[0], True), (1.02 * found[0], False)):
        changed = {"simulation.step": step, "simulation.duration": 100 * step}
        modes = model.with_settings(changed).coupling_modes()["modes"]
        assert (max(mode["radius"] for mode in modes) <= 1.0) == stable


def test_a_linear_model_is_that_of_the_masses(examples: Path) -> None:
    linear = oldham.Model(examples / "two-mass-damped.toml").linearise()
    # m1 = m2 = 1, k1 = 10, k2 = 1000, kc = 100, all dampers 0.1.
    stiffness = np.array([[110.0, -100.0], [-100.0, 1100.0]])
    damping = np.array([[0.2, -0.1], [-0.1, 0.2]])
    a = np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness, -damping]])
    poles = np.linalg.eigvals(a)
    upper = np.sort_complex(poles[poles.imag > 0])
    assert np.allclose(np.sort_complex(linear.poles), upper, atol=1e-9)
    assert np.allclose(np.sort_complex(linear.control().poles()), np.sort_complex(poles))
    assert linear.scipy().A.shape == (4, 4)


def test_a_frequency_response_is_that_of_python_control() -> None:
    data = external()
    data["lumped"]["cart"]["springs"] = {
        "wall": {"between": ["ground", "x"], "stiffness": 8.0, "damping": 0.4}
    }
    linear = oldham.Model.from_dict(data).linearise()
    frequency, answer = linear.response("cart.push", "cart.x.x", np.array([0.1, 1.0, 10.0]))
    s = 2j * np.pi * frequency
    assert np.allclose(answer, 1 / (2 * s**2 + 0.4 * s + 8), rtol=1e-12)
    system = linear.control()
    row = linear.outputs.index("cart.x.x")
    column = linear.inputs.index("cart.push")
    theirs = control.frequency_response(system, 2 * np.pi * frequency).complex[row, column]
    assert np.allclose(answer, theirs, rtol=1e-10)
    assert linear.plot("cart.push", "cart.x.x").axes
    with pytest.raises(oldham.OldhamError, match="inputs are"):
        linear.response("cart.pull", "cart.x.x")


def test_verdicts_and_remedies(examples: Path) -> None:
    model = oldham.Model(examples / "two-mass-damped.toml")
    verdict = model.advice()
    assert verdict["remedies"], verdict
    poles = model.poles()
    assert len(poles["poles"]) == 2
    offered = [tried for tried in model.compensate() if tried["offered"]]
    assert offered and all(one["radius_with"] < 1.0 < one["radius_without"] for one in offered)


def test_statics_and_modes_of_a_beam(examples: Path) -> None:
    """Mid-span deflection and in-plane periods as published for the beam."""
    model = oldham.Model(examples / "fontana-beam.toml")
    (rest,) = model.statics()
    middle = next(node for node in rest["nodes"] if node["node"] == "girder.12")
    assert middle["position"][2] == pytest.approx(-0.9146, abs=2e-3)
    (part,) = model.modes(6, at_rest=True)
    periods = [1 / mode["frequency"] for mode in part["modes"]]
    assert min(abs(period - 1.01463) for period in periods) < 5e-3


def test_a_steady_motion_is_found(examples: Path) -> None:
    model = oldham.Model(examples / "parametric-oscillator.toml")
    found = model.trim(out="steady.trim")
    assert found["residual"] < 1e-8 and Path("steady.trim").exists()


def test_comparisons(examples: Path) -> None:
    model = oldham.Model(examples / "two-mass-tight.toml", {"simulation.duration": 0.2})
    found = model.compare({"schedule.output_update": [True, False]})
    assert len(found["variants"]) + len(found["left_out"]) >= 2


def test_wrong_requests_are_told(examples: Path) -> None:
    model = oldham.Model(examples / "two-mass-damped.toml")
    with pytest.raises((oldham.StudyError, oldham.ModelError), match="kd"):
        model.stability_curve(("kd", 1.0, 2.0))
    with pytest.raises(oldham.OldhamError, match="spacing"):
        model.stability_curve(("kc", 1.0, 2.0, 3, "cubic"))
    with pytest.raises(oldham.OldhamError, match="two points"):
        model.stability_curve(("kc", 1.0, 2.0, 1))
    with pytest.raises(oldham.StudyError, match="no multibody"):
        model.modes()
    with pytest.raises(ValueError, match="unknown approach"):
        model.compensate("magic")
    with pytest.raises(oldham.StudyError, match="no signal `none`"):
        model.trim(hold={"none": 1.0})
