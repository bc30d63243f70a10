"""Fetch what tests need and the repository has not: .venv/bin/python .ci/data.py FOLDER >> "$GITHUB_ENV"

That is the records of cora and three real crowds. What is printed are the environment variables for the tests. Where
something cannot be had, the tests that need it are skipped, and a warning says so; a wrong checksum stops everything.
"""

import sys
from pathlib import Path

from crowder.cora import CORA_SHA256, CORA_URL, fetch

#: The crowds of Saha and Subramanian (ESA 2019), which state no licence, at a fixed commit.
CROWDS_URL = (
    "https://raw.githubusercontent.com/sanjayss34/corr-clust-query-esa2019/06281ba3502831d16ff05764f1e43404b94ab737"
    "/data"
)
CROWDS_SHA256 = {
    "allsports/answers.txt": "267ac342ec44ec713cbdfd4cd678e3875e2f0b33b7413dcd2022ab3ac8c40f42",
    "allsports/gold.txt": "64c7ebe9134b00e2c5675ae885bd756528ca8c2f5f74b2c09b8f78afbafab978",
    "allsports/graph.txt": "9b72526eec06c60066a3fea21b25133db5d14ab117a594343699dfd6f01ce1f1",
    "gym/answers.txt": "09d79f2c8f6b177c662bcd9502159a1b8e412a14400a95e561a9483f5940aa2e",
    "gym/gold.txt": "58207155338b6f4b53ba45873e71840f6b446dd969e8caa4b387d1c3338374e9",
    "gym/graph.txt": "b6251c976603601ee08c17674dd2f8b71d515a6606794fb4e43b6a1c572887ca",
    "landmarks/answers.txt": "91b53db83d850a02c88b56fd7586c32cd0f0ec9c77e52e878d3126e2cd9f6321",
    "landmarks/gold.txt": "aef42c472c28db36b03f554d0115c692159e0dfbdbbab978b4dd3c6cfdcc4bd0",
    "landmarks/graph.txt": "e9f205bf88aae21ee65e3ea0aac5aad7d7b09b6291ada44f56174f7c7d2c2107",
}


def numbered(content: bytes) -> bytes:
    """The entities of gym, a line each, whose name gives way to the number of the line."""
    lines = content.decode().splitlines()
    return "".join(f"{number},{line.partition(',')[2]}\n" for number, line in enumerate(lines)).encode()


def cora(folder: Path) -> Path:
    """Fetch the records of cora; their path."""
    fetch(CORA_URL, CORA_SHA256, path := folder / "cora.csv")
    return path


def crowds(folder: Path) -> Path:
    """Fetch the crowds; the folder with a folder for each."""
    for name, checksum in CROWDS_SHA256.items():
        change = numbered if name == "gym/gold.txt" else bytes
        fetch(f"{CROWDS_URL}/{name}", checksum, folder / "crowds" / name, change=change)
    return folder / "crowds"


def main(folder: Path) -> None:
    """Print where the data are, and which tests may not be skipped."""
    there = ["browser"]
    for get in (cora, crowds):
        name = get.__name__
        try:
            print(f"CROWDER_{name.upper()}={get(folder).resolve()}")
            there.append(name)
        except ConnectionError as error:
            print(f"::warning title={name}::tests that need {name} are skipped: {error}", file=sys.stderr)
    print(f"CROWDER_REQUIRE={','.join([*there, 'registry'])}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
