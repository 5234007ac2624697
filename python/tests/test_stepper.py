"""Stepping by hand."""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path

import numpy as np
import oldham
import pytest
from models import external, oscillator


def test_steps_have_the_bits_of_a_run(examples: Path) -> None:
    model = oldham.Model(examples / "two-mass-damped.toml")
    run = model.run()
    stepper = model.stepper(outputs=["left.x1.x", "left.fc"])
    read = [stepper.read()]
    for _ in range(100):
        stepper.advance()
        read.append(stepper.read())
    assert np.array_equal(np.array(read)[:, 0], run["left.x1.x"][:101])
    assert np.array_equal(np.array(read)[:, 1], run["left.fc"][:101])
    assert stepper.steps_done == 100 and stepper.time == run.time[100]


def test_inputs_hold_over_steps() -> None:
    """A mass of 2 kg under forces that are held: positions by hand."""
    model = oldham.Model.from_dict(external())
    with model.stepper(outputs=["cart.x.x", "cart.x.v"]) as stepper:
        x, v, h = 0.0, 0.0, 0.01
        for n in range(50):
            force = np.sin(0.3 * n)
            found = stepper.step([force])
            x, v = x + h * v + 0.25 * h * h * force, v + 0.5 * h * force
            assert found == pytest.approx([x, v], abs=1e-13)
        stepper.set(push=4.0)
        stepper.advance(10)
        assert stepper["cart.x.v"] == pytest.approx(v + 0.1 * 2.0, abs=1e-13)
        assert stepper.step(np.array([1.0]), 5).shape == (2,)


def test_branches_go_their_own_way() -> None:
    model = oldham.Model.from_dict(external())
    stepper = model.stepper(outputs=["cart.x.v"])
    stepper.step([1.0], 10)
    other = stepper.branch()
    assert other.time == stepper.time
    a, b = stepper.step([1.0], 10), other.step([-1.0], 10)
    assert a == pytest.approx([0.1]) and b == pytest.approx([0.0], abs=1e-15)


def test_states_go_to_other_processes() -> None:
    model = oldham.Model.from_dict(external())
    stepper = model.stepper()
    stepper.step([1.0], 7)
    state = pickle.loads(pickle.dumps(stepper.save()))
    expected = stepper.step([2.0], 9)
    fresh = pickle.loads(pickle.dumps(model)).stepper()
    fresh.restore(state)
    assert np.array_equal(fresh.step([2.0], 9), expected)
    assert state.time == pytest.approx(0.07)
    # What is read before the next step is of the state, not of the step before.
    fresh.restore(state)
    assert fresh["cart.x.v"] == pytest.approx(0.035, abs=1e-15)


def test_states_of_other_models_are_refused() -> None:
    state = oldham.Model.from_dict(oscillator()).stepper().save()
    with pytest.raises(oldham.StateError, match="another model"):
        oldham.Model.from_dict(external()).stepper().restore(state)
    changed = oldham.Model.from_dict(oscillator(), settings={"k": 5.0}).stepper()
    with pytest.raises(oldham.StateError, match="another model"):
        changed.restore(state)
    data = bytearray(state.to_bytes())
    data[-20] ^= 1
    for wrong in (bytes(data), b"", data[:30]):
        with pytest.raises(oldham.StateError, match="not a whole state"):
            oldham.State.from_bytes(bytes(wrong))
    with pytest.raises(TypeError):
        changed.restore(b"state")  # type: ignore[arg-type]


def test_a_closed_stepper_is_not_used() -> None:
    model = oldham.Model.from_dict(external())
    with model.stepper() as stepper:
        stepper.advance()
    for use in (stepper.read, stepper.save, stepper.advance, lambda: stepper.step([1.0])):
        with pytest.raises(oldham.OldhamError, match="was closed"):
            use()
    assert "closed" in repr(stepper)


def test_a_failed_stepper_goes_back() -> None:
    @oldham.subsystem("late")
    class Late:
        inputs = {"x": oldham.ports.translation}
        outputs = {"force": "N"}

        def send(self, state: None, t: float, u: object) -> float:
            if t > 0.105:
                raise ValueError("too late")
            return 0.0

    from models import pushed

    stepper = oldham.Model.from_dict(pushed("late"), kinds=[Late]).stepper()
    here = stepper.save()
    with pytest.raises(oldham.RunError, match="too late") as failed:
        stepper.advance(50)
    assert isinstance(failed.value.__cause__, ValueError)
    with pytest.raises(oldham.OldhamError, match="has ended"):
        stepper.advance()
    with pytest.raises(oldham.OldhamError, match="has ended"):
        stepper.save()
    stepper.restore(here)
    stepper.advance(5)
    assert stepper.steps_done == 5


def test_wrong_names_and_numbers_are_told() -> None:
    model = oldham.Model.from_dict(external())
    with pytest.raises(oldham.OldhamError, match="no external input `pull`; there are push"):
        model.stepper(inputs=["pull"])
    with pytest.raises(oldham.OldhamError, match="did you mean `cart.x"):
        model.stepper(outputs=["cart.x.w"])
    stepper = model.stepper()
    with pytest.raises(oldham.OldhamError, match="no input `pull`"):
        stepper.set(pull=1.0)
    with pytest.raises(ValueError, match="2 numbers, and one is expected"):
        stepper.step([1.0, 2.0])
    with pytest.raises((TypeError, ValueError)):
        stepper.step("fast")
    with pytest.raises(ValueError, match="no way back"):
        stepper.advance(-1)
    with pytest.raises(oldham.RunError, match="push|excitation"):
        stepper.step([float("nan")])


def test_one_thread_at_a_time() -> None:
    model = oldham.Model.from_dict(external())
    stepper = model.stepper()
    thread = threading.Thread(target=stepper.advance, args=(3_000_000,))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            stepper.read()
        except oldham.OldhamError as error:
            assert "busy" in str(error)
            refused += 1
    thread.join()
    assert refused > 0


def test_a_fork_has_no_stepper() -> None:
    model = oldham.Model.from_dict(external())
    stepper = model.stepper()
    stepper.advance()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            stepper.advance()
        except oldham.OldhamError as error:
            # The model itself is plain data, and runs.
            code = 0 if "forked" in str(error) and model.run().rows == 101 else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    stepper.advance()


def test_a_fork_while_a_run_goes_on_does_not_hang() -> None:
    model = oldham.Model.from_dict(oscillator(duration=2e4))
    thread = threading.Thread(target=lambda: model.run(every=1000))
    thread.start()
    child = os.fork()
    if child == 0:
        short = oldham.Model.from_dict(oscillator())
        os._exit(0 if short.run().rows == 101 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    thread.join()
