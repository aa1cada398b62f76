"""What a model does inside, as arrays and as pictures."""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.inspection.alignment import plot_alignment as plot_alignment
    from kzoo.inspection.attention import plot_attention as plot_attention
    from kzoo.inspection.gates import plot_gates as plot_gates
    from kzoo.inspection.heads import plot_biases as plot_biases
    from kzoo.inspection.leaderboard_pictures import plot_cross_table as plot_cross_table
    from kzoo.inspection.leaderboard_pictures import plot_task_lengths as plot_task_lengths
    from kzoo.inspection.plots import plot_lengths as plot_lengths
    from kzoo.inspection.probe import probe_accuracies as probe_accuracies
    from kzoo.inspection.probe_pictures import plot_probe as plot_probe
    from kzoo.inspection.probe_pictures import plot_probe_accuracies as plot_probe_accuracies
    from kzoo.inspection.writing import animate_writing as animate_writing
    from kzoo.inspection.writing import plot_writing as plot_writing
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
