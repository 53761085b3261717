"""Lagrange multipliers: the example of lecture 003, with other coefficients if one likes.

    minimise  f(x) = p x₁² + q x₂²   subject to   g(x) = a x₁ + b x₂ + c = 0
    L(x, λ) = f(x) + λ g(x),   ∇f = −λ ∇g at the solution

x(λ) = −½ (λa/p, λb/q) minimises L for a fixed λ, and ℓ(λ) = L(x(λ), λ) is the dual function. The
lecture has p = q = 1 and g = 2x₁ − x₂ + 3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import fields, samples
from .fields import Float, Request, RequestError, Room

ROOM = Room(
    "lagrange",
    "Lagrange multipliers",
    "On the constraint, f cannot fall any further where the gradients of f and g are parallel; "
    "λ is their ratio, and the largest value of the dual function is the smallest of f.",
    {"a": 2.0, "b": -1.0, "c": 3.0, "p": 1.0, "q": 1.0},
)
FIELDS = ("p", "q", "a", "b", "c", "reach")


class Example(NamedTuple):
    """The coefficients."""

    p: float
    q: float
    a: float
    b: float
    c: float

    @property
    def slope(self) -> Float:
        """∇g."""
        return np.array([self.a, self.b])

    def f(self, x: Float) -> Float:
        return np.asarray(self.p * x[..., 0] ** 2 + self.q * x[..., 1] ** 2)

    def gradient(self, x: Float) -> Float:
        """∇f."""
        return np.asarray(2.0 * x * np.array([self.p, self.q]))

    def g(self, x: Float) -> Float:
        return np.asarray(x @ self.slope + self.c)

    def lagrangian(self, x: Float, multiplier: Float) -> Float:
        return np.asarray(self.f(x) + multiplier * self.g(x))

    def minimiser(self, multiplier: Float) -> Float:
        """x(λ), the smallest point of L for this λ."""
        weights = np.array([self.p, self.q])
        return np.asarray(-0.5 * np.asarray(multiplier)[..., None] * self.slope / weights)

    def solution(self) -> tuple[Float, float]:
        """x and λ where all derivatives of L vanish."""
        system = np.array(
            [[2.0 * self.p, 0.0, self.a], [0.0, 2.0 * self.q, self.b], [self.a, self.b, 0.0]]
        )
        x1, x2, multiplier = np.linalg.solve(system, [0.0, 0.0, -self.c])
        return np.array([x1, x2]), float(multiplier)


def answer(request: Request) -> dict[str, Any]:
    """The solution, a walk along the constraint, and the dual function."""
    samples.only(request, FIELDS)
    example = Example(
        fields.real(request, "p", 1.0, 0.1, 10.0),
        fields.real(request, "q", 1.0, 0.1, 10.0),
        fields.real(request, "a", 2.0, -10.0, 10.0),
        fields.real(request, "b", -1.0, -10.0, 10.0),
        fields.real(request, "c", 3.0, -20.0, 20.0),
    )
    if np.hypot(example.a, example.b) < 0.1:
        raise RequestError("a and b must not both be near 0: the constraint would be no line")
    reach = fields.real(request, "reach", 3.0, 1.0, 20.0)
    x, multiplier = example.solution()
    along = np.array([-example.b, example.a]) / np.hypot(example.a, example.b)
    walk = x + np.linspace(-reach, reach, 121)[:, None] * along
    span = max(abs(multiplier), 1.0)
    multipliers = multiplier + span * np.linspace(-2.0, 2.0, len(walk))
    points = example.minimiser(multipliers)
    found: dict[str, Any] = fields.plain(
        {
            "coefficients": example._asdict(),
            "solution": {
                "x": x,
                "multiplier": multiplier,
                "f": float(example.f(x)),
                "g": float(example.g(x)),
                "gradient_f": example.gradient(x),
                "gradient_g": example.slope,
            },
            "walk": {
                "x": walk,
                "f": example.f(walk),
                "gradient": example.gradient(walk),
                "slope": example.gradient(walk) @ along,
            },
            "dual": {
                "multiplier": multipliers,
                "x": points,
                "value": example.lagrangian(points, multipliers),
                "g": example.g(points),
                "f": example.f(points),
            },
            "code": code_of(example),
        }
    )
    return found


def code_of(example: Example) -> str:
    p, q, a, b, c = example
    return f"""\
import numpy as np

# f(x) = p x1^2 + q x2^2,  g(x) = a x1 + b x2 + c = 0,  L = f + multiplier * g
p, q, a, b, c = {p!r}, {q!r}, {a!r}, {b!r}, {c!r}
system = np.array([[2 * p, 0, a], [0, 2 * q, b], [a, b, 0]])
x1, x2, multiplier = np.linalg.solve(system, [0, 0, -c])
print("x =", x1, x2, " multiplier =", multiplier)
print("f =", p * x1**2 + q * x2**2)

from maxmargin.lab.rooms.lagrange import Example

example = Example(p, q, a, b, c)
values = example.minimiser(np.array(multiplier))
print("largest value of the dual function:", example.lagrangian(values, np.array(multiplier)))
"""
