"""The highest rate at which a goal is met, by trials: pure."""

from typing import Optional

GROWTH = 1.5


class RateSearch:
    """Multiplies or divides the rate until a met and a missed one are known, then halves the ratio
    between them, geometrically, until it is at most `ratio_goal`."""

    def __init__(self, start: float, ratio_goal: float = 1.06, trial_max: int = 12):
        self._next = start
        self._ratio_goal = ratio_goal
        self._trials_left = trial_max
        self.met: Optional[float] = None
        self.missed: Optional[float] = None

    def next_rate(self) -> Optional[float]:
        """The rate of the next trial; None when the search is over."""
        if self._trials_left == 0:
            return None
        if self.met and self.missed and self.missed / self.met <= self._ratio_goal:
            return None
        return self._next

    def record(self, is_met: bool) -> None:
        self._trials_left -= 1
        if is_met:
            self.met = self._next
        else:
            self.missed = self._next
        if self.met is None:
            self._next /= GROWTH
        elif self.missed is None:
            self._next *= GROWTH
        else:
            self._next = (self.met * self.missed) ** 0.5
