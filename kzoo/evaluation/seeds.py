"""What the runs of several training seeds say together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median, stdev

from kzoo.evaluation.report import percent

# The 97.5 % quantiles of Student's t, for 1 and more degrees of freedom.
T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
NORMAL = 1.96


@dataclass(frozen=True)
class Aggregate:
    """Accuracies of training seeds, as one number with its spread.

    Attributes:
        value: float. Their mean or median.
        statistic: str. "mean" or "median".
        runs: int. How many there are.
        sd: float or None. Their standard deviation (n - 1), of a mean of two or more.
        low, high: float or None. The interval over seeds, of two or more: of a mean by Student's t, within 0..1; of a
            median between two of the accuracies, the lowest and the highest if there are fewer than six.
        coverage: float or None. How often such an interval has the value of all seeds in it: 0.95, or of the median of
            few seeds what their range has, 0.75 of three and 0.94 of five.
    """

    value: float
    statistic: str
    runs: int
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    coverage: float | None = None


def aggregate(values: Sequence[float], statistic: str | None = None) -> Aggregate | None:
    """Returns the accuracies of training seeds as one number, or None if there are none.

    Args:
        values: sequence of float in 0..1.
        statistic: "mean", or "median", which None stands for.
    """
    n = len(values)
    if n == 0:
        return None
    if statistic == "mean":
        if n == 1:
            return Aggregate(values[0], "mean", 1)
        center, sd = mean(values), stdev(values)
        margin = (T[n - 2] if n - 2 < len(T) else NORMAL) * sd / math.sqrt(n)
        return Aggregate(center, "mean", n, sd, max(0.0, center - margin), min(1.0, center + margin), 0.95)
    if n == 1:
        return Aggregate(values[0], "median", 1)
    ordered = sorted(values)
    # The median of all lies outside if all, or all but up to `cut`, of the runs are on one side of it.
    cut = 0
    while cut + 1 < n / 2 and _outside(n, cut + 1) <= 0.05:
        cut += 1
    return Aggregate(median(values), "median", n, None, ordered[cut], ordered[-1 - cut], 1 - _outside(n, cut))


def spoken_spread(values: Sequence[float], statistic: str | None = None) -> str:
    """Returns the accuracies of training seeds as text: "76.0 % ± 23.1", or "99.5 % (87.5 % to 99.7 %)".

    Args:
        values: sequence of float in 0..1, one or more.
        statistic: "mean", or "median", which None stands for.
    """
    found = aggregate(values, statistic)
    if found is None:
        return ""
    low, high = percent(min(values)), percent(max(values))
    if found.sd is not None:
        return f"{percent(found.value)} ± {100 * found.sd:.1f}"
    return percent(found.value) + (f" ({low} to {high})" if low != high else "")


def _outside(n: int, cut: int) -> float:
    return 2 * sum(math.comb(n, k) for k in range(cut + 1)) / 2**n
