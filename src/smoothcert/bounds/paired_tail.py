"""The chance that pairs turn out at least as well for the second of two as they did."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln

_REACH = 6.0  # standard deviations of b + c that are summed over; what lies beyond is added as a whole
_ROUNDING = 1e-13  # by pair: error of logarithms of factorials and of their sums, several times over
_TINY, _NEARLY = 1e-300, 1e-16  # so that logarithms of 0 and 1 stay finite

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PairedTail:
    """The outcomes (b, c) of n pairs that rank at least as high as the observed one, and their chance.

    Ranked by an approximate lower limit of the difference, closed: more b and fewer c never rank lower.

    Args:
        gained: observed b.
        lost: observed c.
        pairs: n.
        z: standard deviations of the approximate limit.
        least: smallest pi that will be asked about.
        most: largest pi that will be asked about.
    """

    gained: int
    lost: int
    pairs: int
    z: float
    least: float
    most: float

    @cached_property
    def rank(self) -> float:
        """The approximate lower limit at the observed outcome."""
        return float(self._rank(np.array(self.gained - self.lost), np.array(self.gained + self.lost)))

    def _rank(self, difference: Floats | Ints, apart: Floats | Ints) -> Floats:
        total = self.pairs + self.z**2
        spread = np.sqrt(apart + self.z**2 / 2 - difference**2 / total)
        return np.asarray((difference - self.z * spread) / total)

    @cached_property
    def _most_lost(self) -> Ints:
        """The largest c that ranks so high, for each b + c; -1 where none does. It stays, or grows by one."""
        apart, total = np.arange(self.pairs + 1, dtype=np.float64), self.pairs + self.z**2
        grown = 1 + self.z**2 / total
        under_root = np.maximum((apart + self.z**2 / 2) * grown - self.rank**2 * total, 0.0)
        least_difference = (self.rank * total + self.z * np.sqrt(under_root)) / grown
        # A tie that rounding could break counts as one: what is more than needed widens the interval.
        lost = np.floor(np.clip((apart - least_difference) / 2 + 1e-6, -1, apart))
        lost = np.where(self._rank(-apart, apart) >= self.rank - 1e-9 / total, apart, lost)
        observed = self.gained + self.lost
        lost[observed] = max(lost[observed], self.lost)
        lost = np.maximum.accumulate(lost)  # more b
        lost = np.maximum.accumulate((lost - apart)[::-1])[::-1] + apart  # fewer c
        return np.asarray(lost, dtype=np.int64)

    @cached_property
    def _window(self) -> Ints:
        """The values of b + c that have a chance worth summing."""
        low, high = self.pairs * self.least, self.pairs * self.most
        spread = [_REACH * np.sqrt(mean * (1 - mean / self.pairs)) + 12 for mean in (low, high)]
        return np.arange(max(int(low - spread[0]), 0), min(int(high + spread[1]) + 1, self.pairs) + 1)

    @cached_property
    def _logs(self) -> tuple[Floats, Floats]:
        """Logarithms of how many ways lead to each b + c, and from there to the largest c."""
        logs, apart = _log_factorials(self.pairs), self._window
        lost = np.maximum(self._most_lost[apart], 0)
        ways = logs[self.pairs] - logs[apart] - logs[self.pairs - apart]
        return ways, logs[apart] - logs[lost] - logs[apart - lost]

    def chances(self, delta: float, cells: Floats) -> Floats:
        """Return a bound on the chance of the outcomes at a difference delta, over all pi of each cell."""
        feasible = cells[1] >= abs(delta)  # no pi is smaller
        gain = np.maximum((cells[1] + delta) / 2, 0.0)
        loss = np.maximum((cells[0] - delta) / 2, 0.0)
        chances = self._chance(gain[feasible, None], loss[feasible, None])
        found = np.zeros(len(feasible))
        found[feasible] = chances + _ROUNDING * self.pairs
        return found

    def _chance(self, gain: Floats, loss: Floats) -> Floats:
        """Return P(outcome ranks so high) for columns of p_b and p_c; what lies beyond the window is added."""
        apart, lost = self._window, self._most_lost[self._window]
        to_apart, to_lost = self._logs
        pi, share = gain + loss, loss / (gain + loss)  # share of c in b + c
        chances = np.exp(to_apart + _log_powers(pi, apart, self.pairs - apart))
        some = np.maximum(lost, 0)
        exactly = np.exp(to_lost + _log_powers(share, some, apart - some)) * (lost >= 0)
        # P(C <= c) from one b + c to the next: one more draw may pass c, and c may have grown by one.
        steps = exactly[:, 1:] * (np.diff(lost) == 1) - exactly[:, :-1] * share
        start = _at_most(int(lost[0]), int(apart[0]), share)
        at_most = np.concatenate([start, start + np.cumsum(steps, axis=1)], axis=1)
        inside = (chances * np.clip(at_most, 0, 1)).sum(axis=1)
        return np.asarray(inside + np.maximum(1 - chances.sum(axis=1), 0))


def _log_powers(p: Floats, successes: Ints, failures: Ints) -> Floats:
    """Return the logarithm of p^successes (1 - p)^failures for a column of p, 0^0 being 1."""
    p = np.clip(p, _TINY, 1 - _NEARLY)
    return np.asarray(np.log(p) * successes + np.log1p(-p) * failures)


def _at_most(count: int, trials: int, p: Floats) -> Floats:
    """Return P(Bin(trials, p) <= count) for a column of p."""
    if count < 0 or count >= trials:
        return np.full_like(p, float(count >= 0))
    return np.asarray(betainc(trials - count, count + 1, 1 - p))


@lru_cache(maxsize=2)
def _log_factorials(largest: int) -> Floats:
    return np.asarray(gammaln(np.arange(1, largest + 2, dtype=np.float64)))
