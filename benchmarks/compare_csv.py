"""How fast are large CSV results compared, and in how much memory?

    python benchmarks/compare_csv.py [--megabytes 1000] [--signals 100] [--runs 3] [--folder DIR]

Writes a pair of CSV files of that size together to a folder of its own (deleted at the end), then compares them with
`khz compare` in a process of its own.  Beside it: reading the files once without looking at them, and parsing them by
polars alone, which is what any reader has to do.  Memory is the largest anonymous part of the process (what cannot be
given back), sampled every 20 ms, and for a quarter of the size too: it should not grow with the file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

_BYTES_OF_A_NUMBER, _ROWS = 19.6, 20_000  # in our CSV; written at a time


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=1000.0)
    parser.add_argument("--signals", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    for megabytes in (arguments.megabytes / 4, arguments.megabytes):
        with tempfile.TemporaryDirectory(dir=arguments.folder, prefix="compare-csv-") as folder:
            files = write_pair(Path(folder), megabytes, arguments.signals)
            size = sum(f.stat().st_size for f in files) / 1e6
            print(f"{size:.0f} MB in two files, {arguments.signals} signals")
            for _ in range(arguments.runs):
                read, parsed = read_once(files), parse(files)
                seconds, processor, memory = compare(files)
                speeds = f"read {size / read:.0f} MB/s, parsed by polars {size / parsed:.0f} MB/s"
                print(
                    f"  compared in {seconds:.1f} s, {processor:.1f} s of processor time: {size / seconds:.0f} MB/s"
                    f" ({speeds}); memory {memory:.0f} MB"
                )
    return 0


def write_pair(folder: Path, megabytes: float, n_signals: int) -> list[Path]:
    """The same sines, one of them off by 1e-5."""
    from kilohertz.results import CsvWriter

    n_rows = int(megabytes * 1e6 / 2 / ((n_signals + 1) * _BYTES_OF_A_NUMBER))
    random, t = np.random.default_rng(1), np.linspace(0.0, 100.0, n_rows)
    frequency, phase = random.uniform(0.01, 1.0, n_signals), random.uniform(0.0, 6.0, n_signals)
    size = 10 ** random.uniform(-3.0, 5.0, n_signals)
    files = []
    for name, factor in (("result", 1 + 1e-5), ("reference", 1.0)):
        files.append(folder / f"{name}.csv")
        with CsvWriter(files[-1], [f"signal[{i}]" for i in range(1, n_signals + 1)]) as writer:
            for at in range(0, n_rows, _ROWS):
                part = t[at : at + _ROWS]
                writer.rows(part, factor * size * np.sin(2 * np.pi * frequency * part[:, None] + phase))
    return files


def read_once(files: list[Path]) -> float:
    started = time.perf_counter()
    for file in files:
        with open(file, "rb", buffering=0) as opened:
            while opened.read(1 << 24):
                pass
    return time.perf_counter() - started


def parse(files: list[Path]) -> float:
    code = "import sys, polars\nfor f in sys.argv[1:]: polars.read_csv(f)"
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, *map(str, files)], check=True)
    return time.perf_counter() - started


def compare(files: list[Path]) -> tuple[float, float, float]:
    """Seconds, of processor time, and megabytes of anonymous memory."""
    started, most = time.perf_counter(), 0.0
    words = [sys.executable, "-m", "kilohertz", "compare", *map(str, files)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        ticks = 0
        while process.poll() is None:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
                numbers = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                break
            found = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")]
            most = max([most, *(float(kilobytes) / 1e3 for kilobytes in found)])
            ticks = int(numbers[11]) + int(numbers[12])
            time.sleep(0.02)
        assert process.stdout is not None
        last = process.stdout.read().splitlines()[-1]
    assert last.startswith("PASS"), last
    return time.perf_counter() - started, ticks / 100, most


if __name__ == "__main__":
    sys.exit(main())
