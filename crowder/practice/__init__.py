"""For records of your own: read them, plan and ask questions, keep the answers, and work with more pairs than fit.

`read_records` and `from_pairs` take records or scored pairs; `Plan` says what an ordering will cost and makes batches
of questions; `Journal` keeps every answer in a file. `StreamOrdering` asks about pairs that `chunks_from_parquet` sorts
on disk, after `write_candidates`. The command ``crowder`` does the same without a program.
"""

from crowder.practice.candidates import nearest_pairs
from crowder.practice.journal import Journal
from crowder.practice.learned_ordering import LearnedOrdering
from crowder.practice.parquet import chunks_from_parquet, write_candidates
from crowder.practice.plan import Plan
from crowder.practice.record_file import read_records
from crowder.practice.scored_pairs import from_pairs
from crowder.practice.stream_ordering import StreamOrdering

__all__ = [
    "Journal", "LearnedOrdering", "Plan", "StreamOrdering", "chunks_from_parquet", "from_pairs", "nearest_pairs",
    "read_records", "write_candidates",
]  # fmt: skip
