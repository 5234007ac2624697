"""Parts and predictors that are Python classes."""

from __future__ import annotations

import _thread
import threading
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import oldham
import pytest
from models import pushed
from oldham import ports


@oldham.subsystem("damper")
class Damper:
    """A force against a velocity."""

    c: float
    inputs = {"x": ports.translation}
    outputs = {"force": "N"}
    conjugate = [("x", "force")]

    def send(self, state: None, t: float, u: Any) -> float:
        return -self.c * float(u[1])


@oldham.subsystem("filter")
class Filtered:
    """A force that follows -k x with a lag, T f' = -k x - f."""

    k: float = 2.0
    lag: float = 0.1
    inputs = {"x": ports.translation}
    outputs = {"force": "N"}
    direct: list[tuple[str, str]] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.direct = []

    def start(self) -> list[float]:
        return [0.0]

    def advance(self, state: Any, t: float, dt: float, u: Any) -> Any:
        target = -self.k * u[0]
        return target + (state - target) * np.exp(-dt / self.lag)

    def send(self, state: Any, t: float, u: Any) -> Any:
        return state


def test_a_damper_in_python_damps() -> None:
    """The limit of small steps is the damped oscillator, x'' + c x' + 25 x = 0."""
    errors = []
    for step in (0.002, 0.001):
        data = pushed("damper", {"c": 1.0}, step=step)
        results = oldham.Model.from_dict(data, kinds=[Damper]).run()
        t, x = results.time, results["one.x.x"]
        w = np.sqrt(25 - 0.25)
        exact = np.exp(-0.5 * t) * (np.cos(w * t) + 0.5 / w * np.sin(w * t))
        errors.append(np.abs(x - exact).max())
    assert errors[1] < 3e-3 and 1.8 < errors[0] / errors[1] < 2.2
    assert any(name.startswith("exchange.") for name in results)


def test_a_part_in_python_has_the_bits_of_a_recurrence() -> None:
    """The pair by hand: the mass under a held force, exactly, and the filter with the held position."""
    data = pushed("filter", {"k": 2.0, "lag": 0.1})
    results = oldham.Model.from_dict(data, kinds=[Filtered]).run()
    x, v, f = 1.0, 0.0, 0.0
    h, w = 0.01, 5.0
    for n in range(1, 101):
        held = x
        rest = f / 25.0
        x, v = (
            rest + (x - rest) * np.cos(w * h) + v / w * np.sin(w * h),
            -(x - rest) * w * np.sin(w * h) + v * np.cos(w * h),
        )
        f = -2.0 * held + (f + 2.0 * held) * np.exp(-h / 0.1)
        assert abs(results["one.x.x"][n] - x) < 1e-12
        assert abs(results["it.force"][n] - f) < 1e-12


def test_its_keys_are_checked_like_any_other() -> None:
    data = pushed("damper", {"c": 1.0, "d": 2.0})
    with pytest.raises(oldham.ModelError, match="did you mean|unknown|not a key|no key") as refused:
        oldham.Model.from_dict(data, kinds=[Damper])
    assert "damper.it.d" in [problem.place for problem in refused.value.problems]
    with pytest.raises(oldham.ModelError, match="`c`"):
        oldham.Model.from_dict(pushed("damper", {}), kinds=[Damper])
    with pytest.raises(oldham.ModelError):
        oldham.Model.from_dict(pushed("damper", {"c": "much"}), kinds=[Damper])
    # Expressions of parameters, as everywhere.
    data = pushed("damper", {"c": "2 * half"})
    data["parameters"] = {"half": 0.5}
    model = oldham.Model.from_dict(data, kinds=[Damper])
    whole = oldham.Model.from_dict(pushed("damper", {"c": 1.0}), kinds=[Damper])
    assert np.array_equal(model.run()["one.x.x"], whole.run()["one.x.x"])


def test_its_state_is_saved_and_restored() -> None:
    model = oldham.Model.from_dict(pushed("filter"), kinds=[Filtered])
    whole = model.run()
    stepper = model.stepper(outputs=["one.x.x", "it.force"])
    stepper.advance(40)
    here = oldham.State.from_bytes(stepper.save().to_bytes())
    stepper.advance(60)
    assert stepper["it.force"] == whole["it.force"][-1]
    stepper.restore(here)
    assert stepper.time == pytest.approx(0.4)
    stepper.advance(60)
    assert stepper["one.x.x"] == whole["one.x.x"][-1]


def test_coordinates_are_analysed_and_bytes_are_measured() -> None:
    """The radius of the pair is that of its matrix, whether the state is shown or hidden."""
    h, w, k, lag = 0.01, 5.0, 2.0, 0.1
    c, s, e = np.cos(w * h), np.sin(w * h), np.exp(-h / lag)
    rest = 1 / 25.0
    matrix = np.array(
        [[c, s / w, rest * (1 - c)], [-w * s, c, w * s * rest], [-k * (1 - e), 0.0, e]]
    )
    radius = np.abs(np.linalg.eigvals(matrix)).max()
    model = oldham.Model.from_dict(pushed("filter"), kinds=[Filtered])
    found = model.coupling_modes()
    assert max(mode["radius"] for mode in found["modes"]) == pytest.approx(radius, abs=1e-9)

    @oldham.subsystem("hidden")
    class Hidden:
        inputs = {"x": ports.translation}
        outputs = {"force": "N"}
        direct: Any = ()

        def start(self) -> bytes:
            return np.zeros(1).tobytes()

        def advance(self, state: bytes, t: float, dt: float, u: Any) -> bytes:
            value = np.frombuffer(state)
            target = -k * u[0]
            return (target + (value - target) * np.exp(-dt / lag)).tobytes()

        def send(self, state: bytes, t: float, u: Any) -> Any:
            return np.frombuffer(state).copy()

    hidden = oldham.Model.from_dict(pushed("hidden"), kinds=[Hidden])
    assert np.array_equal(hidden.run()["one.x.x"], model.run()["one.x.x"])
    measured = hidden.coupling_modes()
    assert max(mode["radius"] for mode in measured["modes"]) == pytest.approx(radius, abs=1e-7)
    verdict = hidden.check(along_run=False)
    assert verdict["method"] == "measured"


def test_implicit_coupling_takes_it_back() -> None:
    """Where steps are repeated, the state goes back; the pair then agrees with small explicit steps."""
    data = pushed("damper", {"c": 1.0}, step=0.01)
    data["schedule"] = {"coupling": "implicit"}
    results = oldham.Model.from_dict(data, kinds=[Damper]).run()
    fine = oldham.Model.from_dict(pushed("damper", {"c": 1.0}, step=1e-4), kinds=[Damper]).run()
    assert abs(results["one.x.x"][-1] - fine["one.x.x"][-1]) < 5e-3


class _Bad:
    """Makes classes that misbehave."""

    def __new__(cls, name: str, send: Any, **more: Any) -> Any:
        body = {"inputs": {"x": ports.translation}, "outputs": {"force": "N"}, "send": send, **more}
        return oldham.subsystem(name)(type(name.title(), (), body))


def _run(cls: type, kind: str) -> oldham.Results:
    return oldham.Model.from_dict(pushed(kind), kinds=[cls]).run()


def test_its_exceptions_are_kept_with_their_traceback() -> None:
    def send(self: Any, state: Any, t: float, u: Any) -> float:
        if t > 0.5:
            raise ZeroDivisionError("the gear is broken")
        return 0.0

    with pytest.raises(oldham.RunError, match="ZeroDivisionError: the gear is broken") as failed:
        _run(_Bad("broken", send), "broken")
    error = failed.value
    assert error.subsystem == "it" and error.time == pytest.approx(0.51)
    assert isinstance(error.__cause__, ZeroDivisionError)
    lines = traceback.format_exception(error.__cause__)
    assert any("the gear is broken" in line for line in lines)
    assert any("test_parts.py" in line for line in lines)
    assert error.results is not None and error.results.time[-1] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("two", [1.0, 2.0], "2 numbers, and one is expected"),
        ("none", None, "must give numbers"),
        ("text", "1", "must give numbers|TypeError|real number"),
        ("nan", float("nan"), "became NaN"),
        ("inf", np.array([np.inf]), "became inf"),
        ("flat", np.zeros((2, 2)), "must give numbers"),
    ],
)
def test_wrong_outputs_end_the_run(name: str, given: Any, told: str) -> None:
    def send(self: Any, state: Any, t: float, u: Any) -> Any:
        return given if t > 0.3 else 0.0

    with pytest.raises(oldham.RunError, match=told):
        _run(_Bad(name, send), name)


def test_wrong_states_end_the_run() -> None:
    def send(self: Any, state: Any, t: float, u: Any) -> float:
        return 0.0

    longer = _Bad("longer", send, start=lambda self: [0.0], advance=lambda *_: [0.0, 1.0])
    with pytest.raises(oldham.RunError, match="the state gave 2 numbers, and one is expected"):
        _run(longer, "longer")
    other = _Bad("other", send, start=lambda self: b"12", advance=lambda *_: 3.0)
    with pytest.raises(oldham.RunError, match="must be bytes, too"):
        _run(other, "other")
    sudden = _Bad("sudden", send, advance=lambda *_: [1.0])
    with pytest.raises(oldham.RunError, match="`start` gave none"):
        _run(sudden, "sudden")
    odd = _Bad("odd", send, start=lambda self: {"a": 1}, advance=lambda *_: None)
    with pytest.raises(oldham.ModelError, match="the state must be None"):
        _run(odd, "odd")


def test_classes_that_are_no_kinds_are_refused() -> None:
    with pytest.raises(oldham.OldhamError, match="is not a kind"):
        oldham.Model.from_dict(pushed("damper"), kinds=[int])
    with pytest.raises(oldham.OldhamError, match="needs a method `send`"):
        oldham.subsystem("nothing")(type("Nothing", (), {}))
    twice = [Damper, Damper]
    with pytest.raises(ValueError, match="there is a kind `damper` already"):
        oldham.Model.from_dict(pushed("damper"), kinds=twice)

    @oldham.subsystem("odd")
    class Odd:
        table: dict[str, int]
        inputs: Any = ()
        outputs: Any = ()

        def send(self, state: Any, t: float, u: Any) -> float:
            return 0.0

    with pytest.raises(oldham.OldhamError, match="which no key can have"):
        oldham.Model.from_dict(pushed("odd"), kinds=[Odd])

    silent = oldham.subsystem("silent")(type("Silent", (), {"send": lambda *_: 0.0}))
    with pytest.raises(oldham.ModelError, match="must declare `inputs`"):
        oldham.Model.from_dict(pushed("silent"), kinds=[silent])


def test_ports_of_other_quantities_are_refused() -> None:
    def send(self: Any, state: Any, t: float, u: Any) -> float:
        return 0.0

    wrong = oldham.subsystem("wrong")(
        type("Wrong", (), {"inputs": {"x": "m"}, "outputs": {"force": "N"}, "send": send})
    )
    with pytest.raises(oldham.ModelError, match="x"):
        oldham.Model.from_dict(pushed("wrong"), kinds=[wrong]).run()


def test_ctrl_c_in_python_code_of_a_part() -> None:
    def send(self: Any, state: Any, t: float, u: Any) -> float:
        if t == 0.25:
            _thread.interrupt_main()
        return 0.0

    model = oldham.Model.from_dict(
        pushed("stopped", duration=1e4), kinds=[_Bad("stopped", send)]
    )
    with pytest.raises(KeyboardInterrupt):
        model.run(every=100)


def test_python_parts_run_from_several_threads_at_once() -> None:
    model = oldham.Model.from_dict(pushed("filter"), kinds=[Filtered])
    expected = model.run()["one.x.x"]
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(model.run()["one.x.x"])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(one, expected) for one in found)


@oldham.predictor("straight")
class Straight:
    """Continues every input along its last chord."""

    def start(self, width: int) -> Any:
        return np.zeros(2 + 2 * width)

    def receive(self, state: Any, t: float, u: Any) -> None:
        width = len(u)
        if t != state[0]:
            state[1] = t - state[0]
            state[2 + width :] = state[2 : 2 + width]
            state[0] = t
        state[2 : 2 + width] = u

    def predict(self, state: Any, t: float) -> Any:
        width = (len(state) - 2) // 2
        new, old = state[2 : 2 + width], state[2 + width :]
        share = (t - state[0]) / state[1] if state[1] > 0 else 0.0
        return new + share * (new - old)


def test_a_predictor_in_python_is_a_first_order_hold() -> None:
    data = pushed("filter")
    data["schedule"] = {"predictor": "first-order"}
    own = oldham.Model.from_dict(data, kinds=[Filtered]).run()
    data["schedule"] = {"predictor": "straight"}
    python = oldham.Model.from_dict(data, kinds=[Filtered, Straight]).run()
    plain = oldham.Model.from_dict(pushed("filter"), kinds=[Filtered]).run()
    x = own["one.x.x"]
    assert np.abs(python["one.x.x"][-1] - x[-1]) < 0.05 * np.abs(plain["one.x.x"][-1] - x[-1])


def test_a_controller_of_a_hydraulic_crane_is_continued_bit_for_bit(examples: Path) -> None:
    @oldham.subsystem("position")
    class Position:
        """A PI controller of a cylinder's length, which wants a speed."""

        target: float
        kp: float = 2.0
        ki: float = 0.5
        inputs = {"length": "m"}
        outputs = {"speed": "m/s"}
        direct: Any = ()

        def start(self) -> list[float]:
            return [0.0, 0.0]

        def advance(self, state: Any, t: float, dt: float, u: Any) -> None:
            error = self.target - u[0]
            state[0] += dt * error
            state[1] = np.clip(self.kp * error + self.ki * state[0], -0.05, 0.05)

        def send(self, state: Any, t: float, u: Any) -> float:
            return float(state[1])

    text = f"""
        include = "{examples / 'log-crane.toml'}"
        [position.boom]
        target = 0.9
        [[connection]]
        from = "crane.boom.length"
        to = "boom.length"
        [[connection]]
        from = "boom.speed"
        to = "oil.boom.speed"
    """
    settings = {"excitation.\"oil.boom.speed\"": None, "simulation.duration": 0.16}
    Path("controlled.toml").write_text(text)
    model = oldham.Model("controlled.toml", settings, kinds=[Position])
    whole = model.run_to("whole.parquet")
    half = model.with_settings({"simulation.duration": 0.08})
    half.run_to("half.parquet", checkpoint_every=0.08)
    rest = model.run_to("rest.parquet", resume="half.parquet.checkpoint")
    assert rest.rows > 5 and np.ptp(whole["boom.speed"]) > 0
    for name in whole:
        if not name.startswith(("energy.", "exchange.")):
            assert np.array_equal(rest[name], whole[name][-rest.rows :]), name
