"""The benchmark core: compare implementations, correct first and then timed, and record what was found."""

from flashpath.bench.ceilings import Ceilings, measure_ceilings
from flashpath.bench.compare import Results, compare
from flashpath.bench.environment import Environment, read_environment
from flashpath.bench.implementation import Implementation
from flashpath.bench.ladder import bench_ladder
from flashpath.bench.learner_file import load_function
from flashpath.bench.record import Record
from flashpath.bench.record_files import append, load
from flashpath.bench.table import print_table
from flashpath.bench.timer import Timing, time_interleaved
from flashpath.kernels.rung import Case

__all__ = [
    "Case",
    "Ceilings",
    "Environment",
    "Implementation",
    "Record",
    "Results",
    "Timing",
    "append",
    "bench_ladder",
    "compare",
    "load",
    "load_function",
    "measure_ceilings",
    "print_table",
    "read_environment",
    "time_interleaved",
]
