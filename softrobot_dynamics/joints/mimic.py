# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Field `mimic` of a joint: the joint that it follows, and how."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import Complaints
from softrobot_dynamics.schema.fields import name, number


@dataclass(frozen=True)
class Mimic:
    """
    The coordinate of a joint is multiplier q + offset, where q is that of the joint it follows.

    Both are joints of one coordinate. The multiplier is in units of the follower per unit of the
    leader, the offset [rad or m] in those of the follower.
    """

    joint: str = name()
    multiplier: float = number('follower per leader', default=1.0)
    offset: float = number('rad or m', default=0.0)

    def validate(self) -> Complaints:
        """Yield a multiplier of zero: such a joint does not move."""
        if self.multiplier == 0.0:
            words = 'a number other than 0; a joint that does not move is of type fixed'
            yield 'multiplier', self.multiplier, words
