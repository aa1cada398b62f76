"""The sequence accuracies of Ray Chowdhury and Caragea (2023), in percent as they were printed.

A table's first line names the tasks and their lengths ("all" is the test split as a whole); every other line is a
mechanism. Accuracies are medians of five runs; on SCAN and CFQ, means of five and three.
"""

from kzoo.tasks.published import Published, percent

PAPER = "Ray Chowdhury and Caragea, 2023 (arXiv:2305.20019)"
MEANS = {"scan": 5, "cfq": 3}  # runs
BUDGET = "up to 100 epochs"

TABLES_2_4_7 = """
mechanism               | copy 15 30 100 | reverse_copy 15 30 100| lookup 7 9 11 | reverse_lookup 7 9 11
content                 |     0    0    0|    0    0    0        | 33.3    0    0|  3.7    0   0
relative                |   100  100  100|    0    0    0        |  100  100  100| 78.2  0.8 0.4
location                |  99.8    0    0|  0.7    0    0        |  100  9.4    0| 13.3    0   0
bi_relative             |   100  100  100|  100  100  100        |  100  100  100|  100  100 100
onestep                 |   100  100  100|  100  100  100        |  100  100  100|  100  100 100
monotonic               |   100  100  100|  100  100  100        |  100   98 29.9| 28.5    0   0
onestep_minus_step2     |   100  1.4    0|  100 98.6    0        | 99.2 2.34    0| 99.8    0   0
onestep_minus_step3     |   6.9    0    0|    0    0    0        | 41.9    0    0| 22.9    0   0
onestep_minus_sigmoid   |   100  100 99.8|  100  100  100        |  100 74.3  0.3| 19.1    0   0
bi_rope                 |   100  100    0|  100  100    0        |  100  100  100| 89.5  1.6 0.2
mix_location            |  99.8    0    0|  1.5    0    0        |  8.6    0    0|  7.5    0   0
location_s              |   100 26.6    0|  100 74.1    0        |  100 46.3    0| 99.6  0.1   0
mix_location_s          |  99.7    0    0| 85.9    0    0        | 33.5    0    0|  3.5    0   0
mix_location_s_pr       |  83.6    0    0| 99.7 10.5    0        | 32.9    0    0|  1.1    0   0
mix_onestep             |   2.6    0    0|  0.4    0    0        |  100 71.7  1.6|  100 79.1 8.1
mix_onestep_pr          |   100  100  100|  100  100  100        |  100  100 47.8| 57.5    0   0
mix_monotonic           | 99.95    5    0|  100 50.8    0        | 94.5    0    0| 53.5    0   0
mix_monotonic_pr        |   100 99.2 86.7|  100  100 99.7        | 15.3    0    0|    0    0   0
relaxed_monotonic       |   100  100  100|  100  100 99.9        | 64.3    0    0| 72.8    0   0
mix_relaxed_monotonic   |  31.1    0    0|  100 66.3    0        | 99.8    0    0| 41.4    0   0
mix_relaxed_monotonic_pr|     0    0    0|  100  100  100        | 39.2    0    0|  4.3    0   0

mechanism               | recopy 15 30 100| reverse_recopy 15 30 100| inv_recopy 15 30 100| inv_reverse_recopy 15 30 100
content                 | 19.1    0    0  |    25    0    0         |  0.05    0    0     |    0    0    0
relative                | 43.1    0    0  |   0.1    0    0         |  75.9    0    0     |    0    0    0
location                | 79.6    0    0  |  19.7    0    0         |  99.4 58.8    0     | 97.9  0.3    0
bi_relative             | 33.4    0    0  |  35.3    0    0         |  69.8    0    0     | 71.3    0    0
onestep                 |  100  100  100  |   100  100  100         |   0.1    0    0     |    0    0    0
monotonic               |  100  100  100  |   100  100  100         |   100  100 98.8     |  100 99.9 98.3
onestep_minus_step2     | 15.9    0    0  |  16.9    0    0         |  95.5    0    0     | 96.2    0    0
onestep_minus_step3     |  100  100  100  |   100  100 99.9         |  40.3    0    0     |   45    0    0
onestep_minus_sigmoid   |  100  100  100  |   100  100  100         |     0    0    0     |   22    0    0
bi_rope                 | 43.4    0    0  |    39    0    0         |  56.0    0    0     | 53.1    0    0
mix_location            | 36.1    0    0  |  30.4    0    0         |  99.6 65.1    0     | 98.6 24.1    0
location_s              | 98.7  5.2    0  |  99.9  1.4    0         |   100 99.3 91.1     | 99.9 99.3 91.8
mix_location_s          | 99.7    0    0  |  99.6    0    0         |  98.9 66.6    0     | 98.8 57.7    0
mix_location_s_pr       | 99.6  0.4    0  |   100 61.4    0         |  99.8 98.6   88     | 99.6 98.1 84.8
mix_onestep             | 43.5    0    0  |  87.1    0    0         |  10.4    0    0     | 5.45    0    0
mix_onestep_pr          | 99.9 88.4 30.2  |   100  100  100         |     0    0    0     |    0    0    0
mix_monotonic           | 7.09    0    0  | 99.85    0    0         |  99.8 82.4    0     |  100 82.2    0
mix_monotonic_pr        |  100  100  100  |   100   53  0.5         |     0    0    0     | 89.6 77.6 42.1
relaxed_monotonic       |  100  100 99.9  |     0    0    0         |   100  100 99.1     |  100  100   99
mix_relaxed_monotonic   | 98.1    0    0  |  23.4    0    0         | 99.85 70.5    0     |  100 83.8    0
mix_relaxed_monotonic_pr|  100 90.8 51.2  |   100  100  100         |     0    0    0     |   40    0    0
"""

TABLE_6 = """
mechanism  | dedupe all 15 30 100| posretrieve all 15 30 100
content    | 98.7 37.1    0  0   |  100 0 0 0
bi_relative| 99.9   68    0  0   |  100 0 0 0
location   | 99.6 96.9 71.4  0   | 96.3 0 0 0
onestep    | 94.1   51    0  0   | 70.6 0 0 0
monotonic  | 99.7 98.3 94.3 75   |   79 0 0 0
"""

TABLES_3_8 = """
mechanism    | scan all| cfq all
content      | 17.61          | 62.14
relative     | 19.21          | 56.64
mix_location | 20.74          | 44.83
bi_relative  |  8.41          | 59.48
mix_onestep  | 29.51          | 60.65
mix_monotonic| 21.08          | 60.32

mechanism               | scan all
bi_rope                 | 10.46
location                | 24.56
location_s              | 25.12
mix_location_s          | 27.55
mix_location_s_pr       |  19.8
onestep                 | 15.38
mix_onestep_pr          | 17.67
monotonic               | 14.98
mix_monotonic_pr        | 26.68
relaxed_monotonic       | 15.28
mix_relaxed_monotonic   | 22.92
mix_relaxed_monotonic_pr| 27.99
"""


def published(task: str) -> Published:
    """Returns the numbers of a task."""
    found: dict[str, dict[int | None, float]] = {}
    for table in "\n".join((TABLES_2_4_7, TABLE_6, TABLES_3_8)).strip().split("\n\n"):
        header, *lines = ([cell.split() for cell in line.split("|")] for line in table.strip().splitlines())
        for column, (name, *lengths) in enumerate(header):
            if name == task:
                keys = [None if length == "all" else int(length) for length in lengths]
                for (mechanism,), *cells in lines:
                    found |= percent(keys, **{mechanism: [float(value) for value in cells[column - 1]]})
    if task in MEANS:
        return Published(found, "mean", MEANS[task], budget=BUDGET)
    return Published(found, "median", 5, budget=BUDGET)
