"""Do we count as many equations as the tool that made the reference results?

    python benchmarks/equation_counts.py SWEEP.jsonl REFDIR

SWEEP.jsonl is what `library_sweep.py --resume` wrote; REFDIR holds `translate_passed.log` files of the reference tool,
which say "The DAE has N scalar unknowns and N scalar equations".  Models that use ModelicaServices differ where the
reference tool has its own version of it (visualisation).
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from tables import Journal, share

COUNT = re.compile(r"The DAE has (\d+) scalar unknowns and (\d+) scalar equations")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", type=Path)
    parser.add_argument("references", type=Path)
    arguments = parser.parse_args()
    ours = {name: r["equations"] for name, r in Journal(arguments.sweep).records.items() if "equations" in r}
    different, n_compared = [], 0
    for file in sorted(arguments.references.rglob("translate_passed.log")):
        name = ".".join(file.parent.relative_to(arguments.references).parts)
        found = COUNT.search(file.read_text(encoding="utf-8", errors="replace"))
        if found is None or name not in ours:
            continue
        n_compared += 1
        if int(found[2]) != ours[name]:
            different.append((name, int(found[2]), ours[name]))
    print(f"same number of equations: {share(n_compared - len(different), n_compared)}")
    for name, theirs, own in different:
        print(f"  {theirs:7} there, {own:7} here  {name}")


if __name__ == "__main__":
    main()
