"""A wheel brings the C runtime compiled, where there is a C compiler when it is made.

Objects are named by their text, flags and compiler, as in the build cache: where another compiler is found later, they
are not used, and the runtime is compiled once as without them.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileRuntime(BuildHookInterface[Any]):
    """Called by hatchling for each wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # the sources may change
            return
        scratch = Path(self.directory) / "compiled"
        try:
            objects = self._compiled(scratch)
        except Exception as error:  # a wheel without them works everywhere
            self.app.display_warning(f"the C runtime is not compiled, and will be at first use: {error}")
            return
        for file in objects:
            place = Path("kilohertz", "runtime", "compiled", file.parent.name, file.name)
            build_data["force_include"][str(file)] = str(place)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(Path(self.directory) / "compiled", ignore_errors=True)

    def _compiled(self, scratch: Path) -> list[Path]:
        sys.path.insert(0, str(Path(self.root) / "src"))
        os.environ["KHZ_CACHE_DIR"] = str(scratch / "cache")
        from kilohertz.driver.shipped import ship

        return ship(scratch / "objects")
