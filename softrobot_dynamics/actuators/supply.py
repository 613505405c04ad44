# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Model the air supply of a chamber: a valve of limited flow, and a hose."""

from dataclasses import dataclass

from softrobot_dynamics.schema.fields import number


@dataclass(frozen=True)
class Supply:
    """
    A valve that brings the pressure to the command, as fast as air gets in or out.

    Through it goes at most `flow` [m^3/s] of air as it is outside, where the absolute pressure is
    `ambient` [Pa]; `volume` [m^3] is that of what fills beside the chamber, as the hose. Air keeps
    its temperature: its amount is that of its absolute pressure times its volume.
    """

    flow: float = number('m^3/s', above=0.0)
    volume: float = number('m^3', at_least=0.0, default=0.0)
    ambient: float = number('Pa', above=0.0, default=101325.0)

    def rate(self, volume: float) -> float:
        """Return how fast pressure grows [Pa/s] in a chamber that keeps a volume [m^3]."""
        return self.ambient * self.flow / (volume + self.volume)
