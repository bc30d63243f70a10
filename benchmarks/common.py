"""What the benchmarks share: where results go, and what a time depends on."""

from __future__ import annotations

import argparse
import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def arguments(doc: str) -> argparse.ArgumentParser:
    """The options of every benchmark that `make bench` runs."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smallest settings, into _build/measured")
    parser.add_argument("--results", type=Path, help="folder of the CSV file (default: book/data/measured)")
    return parser


def results_folder(options: argparse.Namespace) -> Path:
    """The folder that was named, _build/measured for quick results, or the one that the book reads."""
    folder = options.results or ROOT / ("_build/measured" if options.quick else "book/data/measured")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def versions(*packages: str) -> str:
    """What a time depends on: processor, Python and package versions."""
    known = Path("/proc/cpuinfo")  # how fast NumPy sorts depends on the kind of processor
    found = re.search(r"^model name\s*: (.*)$", known.read_text(), re.MULTILINE) if known.exists() else None
    processor = f"{os.cpu_count()} cores{f' of {found[1].strip()}' if found else ''}"
    return "; ".join([processor, f"python {platform.python_version()}", *(f"{p} {version(p)}" for p in packages)])
