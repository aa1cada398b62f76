"""The strata of the tasks: kinds of input on which a model may do worse than on the test split."""

from kzoo.tasks.strata.stratum import Stratum as Stratum
