"""The commands on the page "Run it yourself" name notebooks and parameters that exist."""

import re

from book.project import ROOT
from book.text.chapters import read_chapters

TEXT = (ROOT / "book" / "pages" / "run.md").read_text(encoding="utf-8").partition("## Other parameters")[2]


def test_the_commands_name_notebooks_and_parameters_that_exist():
    known = [chapter.defaults().keys() for chapter in read_chapters(ROOT)]
    blocks = re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL)
    assert [path for path in re.findall(r"notebooks/\S+\.ipynb", "".join(blocks)) if not (ROOT / path).exists()] == []
    reruns = re.findall(r"^- .*(?:\n  .*)*", TEXT.partition("### Reruns")[2], re.MULTILINE)
    assert len(blocks) == 4 and len(reruns) > 10
    for block in (*blocks[1:3], *reruns):
        names = {*re.findall(r"-p (\w+) ", block), *re.findall(r"'\{(\w+):", block)}
        assert names and any(names <= has for has in known), block
