"""The tasks: NumPy only. `get("recopy")` gives one; `names()` lists them."""

import os
from typing import TYPE_CHECKING

from kzoo.errors import InputError, UnknownNameError
from kzoo.lazy import attach
from kzoo.registry import get as _get
from kzoo.registry import names as _names

if TYPE_CHECKING:
    from kzoo.tasks.arithmetic import Arithmetic as Arithmetic
    from kzoo.tasks.asked import Asked as Asked
    from kzoo.tasks.base import Example as Example
    from kzoo.tasks.base import Split as Split
    from kzoo.tasks.base import Task as Task
    from kzoo.tasks.calculation import Addition as Addition
    from kzoo.tasks.calculation import CalculationTask as CalculationTask
    from kzoo.tasks.calculation import Multiplication as Multiplication
    from kzoo.tasks.calculation import Successor as Successor
    from kzoo.tasks.cfq import CFQLength as CFQLength
    from kzoo.tasks.chomsky import ChomskyTask as ChomskyTask
    from kzoo.tasks.chomsky_context_free import ModularArithmetic as ModularArithmetic
    from kzoo.tasks.chomsky_context_free import ReverseString as ReverseString
    from kzoo.tasks.chomsky_context_free import SolveEquation as SolveEquation
    from kzoo.tasks.chomsky_context_free import StackManipulation as StackManipulation
    from kzoo.tasks.chomsky_context_sensitive import BitsTask as BitsTask
    from kzoo.tasks.chomsky_context_sensitive import BucketSort as BucketSort
    from kzoo.tasks.chomsky_context_sensitive import DuplicateString as DuplicateString
    from kzoo.tasks.chomsky_context_sensitive import MissingDuplicate as MissingDuplicate
    from kzoo.tasks.chomsky_context_sensitive import OddsFirst as OddsFirst
    from kzoo.tasks.chomsky_numbers import BinaryAddition as BinaryAddition
    from kzoo.tasks.chomsky_numbers import BinaryMultiplication as BinaryMultiplication
    from kzoo.tasks.chomsky_numbers import BinaryTask as BinaryTask
    from kzoo.tasks.chomsky_numbers import ComputeSqrt as ComputeSqrt
    from kzoo.tasks.chomsky_regular import BitLabelTask as BitLabelTask
    from kzoo.tasks.chomsky_regular import CycleNavigation as CycleNavigation
    from kzoo.tasks.chomsky_regular import EvenPairs as EvenPairs
    from kzoo.tasks.chomsky_regular import ModularArithmeticSimple as ModularArithmeticSimple
    from kzoo.tasks.chomsky_regular import ParityCheck as ParityCheck
    from kzoo.tasks.classification import ClassificationTask as ClassificationTask
    from kzoo.tasks.copying import Copy as Copy
    from kzoo.tasks.copying import CopyingTask as CopyingTask
    from kzoo.tasks.copying import DigitTask as DigitTask
    from kzoo.tasks.copying import InvReCopy as InvReCopy
    from kzoo.tasks.copying import InvReverseReCopy as InvReverseReCopy
    from kzoo.tasks.copying import ReCopy as ReCopy
    from kzoo.tasks.copying import ReverseCopy as ReverseCopy
    from kzoo.tasks.copying import ReverseReCopy as ReverseReCopy
    from kzoo.tasks.ctl import CTLBackward as CTLBackward
    from kzoo.tasks.ctl import CTLForward as CTLForward
    from kzoo.tasks.dedupe import DeDupe as DeDupe
    from kzoo.tasks.finite import FiniteTask as FiniteTask
    from kzoo.tasks.hinting import HintingTask as HintingTask
    from kzoo.tasks.increment import Carry as Carry
    from kzoo.tasks.increment import Incrementer as Incrementer
    from kzoo.tasks.increment import IncrementTask as IncrementTask
    from kzoo.tasks.lego import Lego as Lego
    from kzoo.tasks.lego import LegoTask as LegoTask
    from kzoo.tasks.lego import LegoValue as LegoValue
    from kzoo.tasks.lego import TwoAhead as TwoAhead
    from kzoo.tasks.listops import ListOps as ListOps
    from kzoo.tasks.listops_grammar import ListOpsGrammar as ListOpsGrammar
    from kzoo.tasks.lookup import Lookup as Lookup
    from kzoo.tasks.lookup import NoisyLookup as NoisyLookup
    from kzoo.tasks.lookup import ReverseLookup as ReverseLookup
    from kzoo.tasks.number_task import NumberTask as NumberTask
    from kzoo.tasks.pairs_file import PairsFile as PairsFile
    from kzoo.tasks.parity import Parity as Parity
    from kzoo.tasks.parity import ParityClass as ParityClass
    from kzoo.tasks.parity import ParityTask as ParityTask
    from kzoo.tasks.posretrieve import PosRetrieve as PosRetrieve
    from kzoo.tasks.published import Published as Published
    from kzoo.tasks.recall import AssociativeRecall as AssociativeRecall
    from kzoo.tasks.recall import FlipFlop as FlipFlop
    from kzoo.tasks.recursion import ClausalRecursion as ClausalRecursion
    from kzoo.tasks.recursion import PrepositionalRecursion as PrepositionalRecursion
    from kzoo.tasks.recursion import RecursionTask as RecursionTask
    from kzoo.tasks.scan import ScanLength as ScanLength
    from kzoo.tasks.scan_splits import ScanAroundRight as ScanAroundRight
    from kzoo.tasks.scan_splits import ScanDevelopment as ScanDevelopment
    from kzoo.tasks.scan_splits import ScanJump as ScanJump
    from kzoo.tasks.scan_splits import ScanSplit as ScanSplit
    from kzoo.tasks.scan_splits import ScanTurnLeft as ScanTurnLeft
    from kzoo.tasks.sorting import ScratchpadSorter as ScratchpadSorter
    from kzoo.tasks.sorting import Sorter as Sorter
    from kzoo.tasks.sorting import SortingTask as SortingTask
    from kzoo.tasks.sorting_hints import Count as Count
    from kzoo.tasks.sorting_hints import Fill as Fill
    from kzoo.tasks.sorting_hints import SortedSuccessor as SortedSuccessor
    from kzoo.tasks.strata import Stratum as Stratum
    from kzoo.tasks.sums import SumDigits as SumDigits
    from kzoo.tasks.sums import SumOperands as SumOperands
    from kzoo.tasks.sums import SumTask as SumTask
    from kzoo.tasks.task_data import TaskData as TaskData
    from kzoo.tasks.word_problems import A5 as A5
    from kzoo.tasks.word_problems import S3 as S3
    from kzoo.tasks.word_problems import S5 as S5
    from kzoo.tasks.word_problems import WordProblem as WordProblem
else:
    __getattr__, __dir__, __all__ = attach(__name__, "get", "names")


def get(name: "str | Task", **config: object) -> "Task":
    """Returns the task of that name (or the task itself, if it is one).

    Args:
        name: str or Task. A name, or the path of a file of pairs that ends with .tsv: see `PairsFile`.
        **config: arguments of the task.

    Raises:
        UnknownNameError: no task has that name.
        InputError: the file is none of pairs, or of another suffix.
    """
    from kzoo.tasks import pairs_file
    from kzoo.tasks.base import Task

    if isinstance(name, Task):
        return name
    if pairs_file.is_file_of_pairs(name):
        return pairs_file.read(name)
    if isinstance(name, str) and name in pairs_file.known():
        return pairs_file.known()[name]
    if isinstance(name, str) and pairs_file.NAME.fullmatch(name) and name not in _names("task"):
        raise UnknownNameError(
            f"task {name!r} is a file of pairs, which is known once it is read: give its path (.tsv)"
        )
    if isinstance(name, str) and name not in _names("task") and os.path.isfile(name):
        raise InputError(f"{name} is no file of pairs: its name ends with .tsv, its lines are source<TAB>target")
    task: Task = _get("task", {"class": name, "config": config})
    return task


def names() -> list[str]:
    """Returns the names of all tasks, those of files of pairs that were read among them, sorted."""
    from kzoo.tasks.pairs_file import known

    return sorted([*_names("task"), *known()])
