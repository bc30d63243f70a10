"""What the tool needs of `crowder`: in a clone, the folder above; elsewhere, the distribution of that name."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Beside(BuildHookInterface):
    """So ``pip install ./tool`` is enough. A wheel for others is made from the sdist (``python -m build tool``), and an
    editable one asks for ``crowder``, which may be editable, too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        beside = Path(self.root).parent
        is_clone = version == "standard" and (beside / "crowder").is_dir()
        build_data["dependencies"].append(f"crowder[text] @ {beside.as_uri()}" if is_clone else "crowder[text]")
