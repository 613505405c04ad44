# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Gains on an error and on its rate, as laws declare them: acceleration asked for per error."""

from typing import Any

from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter


def gain(words: str, *, default: float = 100.0, **where: Any) -> Any:
    """Return the parameter of a gain on an error [1/s^2]; `where`: `each`, `group` of it."""
    return parameter(number('1/s^2', at_least=0.0, at_most=1e6, default=default), words, **where)


def rate_gain(words: str, *, default: float = 20.0, **where: Any) -> Any:
    """Return the parameter of a gain on the rate of an error [1/s]; `where` as for `gain`."""
    return parameter(number('1/s', at_least=0.0, at_most=1e5, default=default), words, **where)
