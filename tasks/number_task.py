"""What a model is told of a task over numbers."""

from kzoo.tasks.base import Task


class NumberTask(Task):
    """Base of the tasks whose sources are numbers, alone or with an operator between them.

    Beside what every task declares, it has

    - `operator`: str or None, the token between operands;
    - `terms`: int, the number of operands where there is an operator, or None: two or more;
    - `single`: bool. Whether the second operand is one digit;
    - `zeros`: int or None. How many zeros a model needs to the left of the longest operand, so that the result has as
      many digits as they then have; None: results are no numbers, and nothing is filled up;
    - `lowest_first`: bool. Whether numbers are written from their last digit.
    """

    operator: str | None = None
    terms: int | None = 2
    single: bool = False
    zeros: int | None = 1
    lowest_first: bool = False
