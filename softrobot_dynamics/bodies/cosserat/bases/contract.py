# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base class of strain bases: functions phi_k of sigma = s / L on [0, 1].

A strain of a rod is the sum of its coordinates times these functions, so coordinates are in the
strain's own unit. In every basis with an ``order``, order 0 is the constant strain phi_0 = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.schema.fields import integer
from softrobot_dynamics.schema.parsing import Problems
from softrobot_dynamics.schema.registry import read_member, Registry, required

BASES = Registry('basis', __package__, 'softrobot_dynamics.bases')
register = BASES.register


class Basis:
    """Base of all bases: subclass it as a frozen dataclass and ``@register`` a name."""

    @required
    def count(self) -> int:
        """Return the number of functions."""
        raise NotImplementedError

    @required
    def at(self, sigma: Value, math: Math) -> Values:
        """Values of all functions at sigma [-]: a number, an array or a traced symbol."""
        raise NotImplementedError

    def finer(self) -> Basis | None:
        """Return a basis that has these functions and more; None if there is none."""
        return None

    def breaks(self) -> tuple[float, ...]:
        """Points within (0, 1), increasing, where a function jumps: nothing steps over them."""
        return ()


@dataclass(frozen=True)
class OrderedBasis(Basis):
    """A basis of the functions 0 to ``order``."""

    order: int = integer(at_least=0, default=0)

    def count(self) -> int:
        """Return order + 1."""
        return self.order + 1

    def finer(self) -> Basis | None:
        """Return that of an order two higher."""
        return replace(self, order=self.order + 2)


def read_basis(value: object, path: str, problems: Problems, ignore: Sequence[str] = ()) -> Any:
    """Read a mapping whose `basis` names a class of BASES, which reads the rest; None if wrong."""
    return read_member(BASES, 'basis', 'bases', value, path, problems, ignore)
