"""Fetch the records of cora, which are not part of the repository: python3 .ci/cora.py FILE >> "$GITHUB_ENV"

What is printed are the environment variables for the tests. Where the file cannot be had, the tests that need it are
skipped, and a warning says so.
"""

import ast
import hashlib
import sys
import urllib.request
from pathlib import Path

#: The module with the address and the checksum. Nothing that it imports need be installed.
MODULE = Path(__file__).resolve().parents[1] / "crowder" / "cora" / "__init__.py"


def source() -> tuple[str, str]:
    """The address of the records, and their checksum."""
    tree = ast.parse(MODULE.read_text(encoding="utf-8"))
    texts = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    return ast.literal_eval(texts["CORA_URL"]), ast.literal_eval(texts["CORA_SHA256"])


def fetch(url: str, checksum: str, path: Path) -> None:
    """Write what is at this address to the file; an OSError or ValueError, and no file, if that is not the records."""
    with urllib.request.urlopen(url, timeout=60) as reply:
        records = reply.read()
    if (found := hashlib.sha256(records).hexdigest()) != checksum:
        raise ValueError(f"the checksum of {url} is {found}, not {checksum}")
    path.write_bytes(records)


def main(path: Path) -> None:
    """Print where the records are, and which tests may not be skipped."""
    try:
        fetch(*source(), path)
    except OSError as error:  # a wrong checksum stops everything
        print(f"::warning title=cora::tests that need the records of cora are skipped: {error}", file=sys.stderr)
        print("CROWDER_REQUIRE=browser,registry")
    else:
        print(f"CROWDER_CORA={path.resolve()}\nCROWDER_REQUIRE=browser,cora,registry")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
