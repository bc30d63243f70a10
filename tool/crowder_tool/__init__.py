"""For records of your own: read them, ask questions by a learned similarity, keep the answers.

`read_records` reads a CSV file, `LearnedOrdering` asks about its records; `from_pairs` takes pairs that another program
has scored, and `ScoredOrdering` asks about them; `Journal` keeps every answer in a file; `ask_all` asks many questions
of a program at once, such as a language model (`chat_crowd`); `Audit` certifies a recall. The command ``crowder`` does
the same without a program.
"""

from crowder_tool.asking import ask_all
from crowder_tool.audit import Audit
from crowder_tool.candidates import nearest_pairs
from crowder_tool.chat import chat_crowd
from crowder_tool.invented import people
from crowder_tool.journal import Answer, Failed, Journal
from crowder_tool.learning import LearnedOrdering
from crowder_tool.records import read_records
from crowder_tool.scored import ScoredOrdering, from_pairs

__all__ = [
    "Answer", "Audit", "Failed", "Journal", "LearnedOrdering", "ScoredOrdering", "ask_all", "chat_crowd", "from_pairs",
    "nearest_pairs", "people", "read_records",
]  # fmt: skip
