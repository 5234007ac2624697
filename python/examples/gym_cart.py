"""A Gymnasium environment: keep the load of a cart at rest while the cart goes to the middle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import oldham

MODEL = Path(__file__).resolve().parents[2] / "examples" / "driven-cart.toml"


class Cart(gymnasium.Env[Any, Any]):
    action_space = gymnasium.spaces.Box(-20.0, 20.0, (1,))
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float64)
    outputs = ["cart.cart.x", "cart.cart.v", "cart.load.x", "cart.load.v"]

    def __init__(self) -> None:
        self.stepper = oldham.Model(MODEL).stepper(["driver.push"], self.outputs)
        self.stepper.step([1.5], 500)
        self.begin = self.stepper.save()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.stepper.restore(self.begin)
        return self.stepper.read(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen = self.stepper.step(action, 10)
        cost = float(seen @ seen + 1e-3 * np.square(action).sum())
        return seen, -cost, bool(abs(seen[0]) > 5), self.stepper.time > 4, {}


if __name__ == "__main__":
    from gymnasium.utils.env_checker import check_env

    env = Cart()
    check_env(env, skip_render_check=True)
    gains = np.array([10.0, 8.0, 0.0, 0.0])
    for name, act in (("idle", lambda seen: [0.0]), ("feedback", lambda seen: [-gains @ seen])):
        seen, _ = env.reset(seed=1)
        total, ended = 0.0, False
        while not ended:
            seen, reward, failed, late, _ = env.step(np.clip(act(seen), -20, 20))
            total, ended = total + reward, failed or late
        print(f"{name}: {total:.1f}")
