"""Similarities of records, computed from their text."""

from crowder.similarity.functions import *  # noqa: F403
from crowder.similarity.functions import __all__  # noqa: F401
