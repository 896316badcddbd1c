"""An index of our own behind a real HTTP server: three small libraries in zips, as a forge packs them."""

from __future__ import annotations

import functools
import http.server
import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PLANT = 'package Plant annotation(version="1.2.0", uses(Parts(version="2.0.0")));\nend Plant;\n'
TANK = """within Plant;
model Tank
  Parts.Flow f;
  Real h(start=1, fixed=true);
equation
  der(h) = -f.k*h;
end Tank;
"""
PARTS = 'package Parts annotation(version="{}");\n  model Flow\n    parameter Real k = {};\n  end Flow;\nend Parts;\n'
COMMIT = {"Plant": "a" * 40, "Parts2": "b" * 40, "Parts3": "c" * 40}


@dataclass(frozen=True)
class Forge:
    """The served folder and its address."""

    folder: Path
    address: str

    @property
    def index(self) -> str:
        return f"{self.address}/index.json"

    def data(self) -> dict[str, dict[str, dict[str, dict[str, dict[str, object]]]]]:
        return json.loads((self.folder / "index.json").read_text())  # type: ignore[no-any-return]

    def change(self, library: str, version: str, **facts: object) -> None:
        """Change the index."""
        data = self.data()
        data["libs"].setdefault(library, {"versions": {}})["versions"].setdefault(version, {}).update(facts)
        (self.folder / "index.json").write_text(json.dumps(data))


def pack(file: Path, entries: dict[str, str], comment: str = "") -> None:
    """A zip with these files."""
    with zipfile.ZipFile(file, "w") as packed:
        for name, text in entries.items():
            packed.writestr(name, text)
        packed.comment = comment.encode()


@contextmanager
def serving(folder: Path) -> Iterator[Forge]:
    """Put the libraries and their index into an empty folder and serve it."""
    pack(
        folder / "plant.zip",
        {"plant-a/Library/Plant/package.mo": PLANT, "plant-a/Library/Plant/Tank.mo": TANK, "plant-a/README": "hello"},
        COMMIT["Plant"],
    )
    pack(folder / "parts2.zip", {"parts-b/Parts.mo": PARTS.format("2.0.0", 2)}, COMMIT["Parts2"])
    pack(folder / "parts3.zip", {"parts-c/Parts.mo": PARTS.format("3.0.0", 3)}, COMMIT["Parts3"])
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}"
        plant = {"path": "Library/Plant", "uses": {"Parts": "2.0.0"}, "zipfile": f"{address}/plant.zip"}
        parts = {"path": "Parts.mo"}
        index = {
            "libs": {
                "Plant": {"versions": {"1.2.0": plant | {"sha": COMMIT["Plant"]}}},
                "Parts": {
                    "versions": {
                        "2.0.0+x": parts
                        | {"version": "2.0.0+x", "sha": COMMIT["Parts2"], "zipfile": f"{address}/parts2.zip"},
                        "3.0.0": parts
                        | {"version": "3.0.0", "sha": COMMIT["Parts3"], "zipfile": f"{address}/parts3.zip"},
                    }
                },
            },
            "mirrors": [],
        }
        (folder / "index.json").write_text(json.dumps(index))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Forge(folder, address)
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass
