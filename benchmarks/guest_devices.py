"""CAN and Comedi drivers on a real kernel: a small PREEMPT_RT guest with `vcan` and `comedi_test`, under qemu.

    python benchmarks/guest_devices.py ROOT KERNEL [--qemu qemu-system-x86_64] [--pytest]

ROOT holds what Debian's busybox-static, can-utils and libcomedi0 unpack to (`dpkg -x`), KERNEL the same of its
linux-image-*-rt-amd64.
The guest's peers are not ours: `cansend` and `candump` of can-utils, the kernel's `comedi_test` card behind libcomedi.
`--pytest` also takes this Python into the guest and runs tests/devices/test_can.py there, whose peer is python-can.
A proof that the drivers work, not of timing: the guest is emulated.  Ends with 1 where something is not as expected.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from kilohertz import runtime
from kilohertz.toolchain import Source, Unit, build_executable, find_compiler

PROBE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "khz_ports.h"

static double staircase(long cycle, int i) { return -9.0 + 2.0 * (double)((cycle + i) % 10); }

/* cycles of 1 ms, then key=value ...: says what comes, and how far it is from what was sent in the cycle before */
int main(int argc, char **argv)
{
    static khz_device_setting settings[64];
    static double in[64], out[64], before[64];
    const khz_device_config c = {"probe", argc - 2, settings};
    char message[300];
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        *equals = '\0';
        settings[i - 2] = (khz_device_setting){argv[i], equals + 1};
    }
    khz_port *p = aligned_alloc(64, (khz_port_size(&c) + 63) / 64 * 64);
    if (khz_port_open(p, &c, message, sizeof message) != KHZ_OK) {
        printf("FAILED %s\n", message);
        return 1;
    }
    const int n = khz_port_count(p, KHZ_RECEIVE);
    const int is_can = strcmp(khz_config_text(&c, "driver", ""), "can") == 0;
    double worst = 0.0;
    for (long k = 0; k < atol(argv[1]); k++) {
        const struct timespec ms = {0, 1000000};
        const uint32_t flags = khz_port_receive(p, (uint64_t)k, k * 1000000, in);
        if (is_can && flags & KHZ_PORT_FRESH && memcmp(in, before, sizeof in) != 0) {
            printf("came %g %g\n", in[0], in[1]);
            memcpy(before, in, sizeof in);
        }
        for (int i = 0; i < n && k > 0; i++) {
            const double error = in[i] - out[i];
            worst = error > worst ? error : -error > worst ? -error : worst;
        }
        for (int i = 0; i < khz_port_count(p, KHZ_SEND); i++) {
            out[i] = is_can ? 1.5 + i : staircase(k, i);
        }
        khz_port_send(p, (uint64_t)k, k * 1000000, out, 0);
        nanosleep(&ms, NULL);
    }
    const khz_device_counters *t = khz_port_counters(p);
    printf("received %lu sent %lu malformed %lu refused %lu worst %g\n", t->n_received, t->n_sent, t->n_malformed,
        t->n_refused, worst);
    khz_port_close(p);
    return 0;
}
"""
TEST = "tests/devices/test_can.py"
PACKAGES = (
    *("can", "wrapt", "packaging", "typing_extensions"),
    *("pytest", "_pytest", "py", "pluggy", "iniconfig", "pygments", "platformdirs"),
)
UNUSED = {"site-packages", "test", "tests", "__pycache__", "idlelib", "tkinter", "lib2to3", "ensurepip", "turtledemo"}
CAN = (
    "driver=can interface=vcan0 n_receive=2 n_send=2 every=100 receive.0.address='0x100:0|16@1-' "
    "receive.1.address='0x18ff0001:7|16@0+' send.0.address='0x200:0|32@1f' send.1.address='0x18ff0002:0|8@1+'"
)
INIT = f"""#!/bin/sh
/bin/busybox mount -t devtmpfs none /dev
/bin/busybox mount -t proc none /proc
/bin/busybox uname -rv
for m in can can-raw can-dev vcan comedi comedi_test; do /bin/busybox insmod /$m.ko; done
/bin/busybox ip link add dev vcan0 type vcan
/bin/busybox ip link set vcan0 up
/candump -L -n 4 vcan0,200:7FF,18FF0002:1FFFFFFF > /dump & dump=$!
echo BEGIN can
/probe 1500 {CAN} & probe=$!
/bin/busybox sleep 1
/cansend vcan0 100#FEFF
/cansend vcan0 18FF0001#0102
/cansend vcan0 100#01
/cansend vcan0 101#0101
/cansend vcan0 100#R
wait $probe
wait $dump
/bin/busybox sed 's/^/dump /' /dump
echo BEGIN comedi
/probe 300 driver=comedi n_receive=2 n_send=2
if [ -e /python ]; then
    echo BEGIN pytest
    export PYTHONHOME=/python PYTHONPATH=/site:/src CC=/cc PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 HOME=/tmp PATH=/bin
    options="-q -rA --color=no -p no:cacheprovider -c /dev/null --rootdir=/ --basetemp=/tmp/base"
    /python/bin/python3 -S -B -m pytest $options {TEST}
fi
echo END
/bin/busybox poweroff -f
"""


def build_probe() -> Path:
    headers = tuple(Source(n, t) for n, t in (*runtime.headers(), *runtime.device_headers()))
    sources = (Source("guest_probe.c", PROBE), *(Source(n, t) for n, t in runtime.device_sources()))
    return build_executable([Unit(sources, headers, (), ("-D_GNU_SOURCE",))], ("-pthread", "-ldl", "-lrt"))


def libraries_of(programs: list[Path]) -> set[Path]:
    """Shared libraries that programs need, with the loader."""
    out = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=True).stdout
    return {Path(p) for p in re.findall(r"(/\S+\.so\S*) \(0x", out)}


def below(folder: Path, to: str) -> dict[str, bytes]:
    """A folder's files without what no test needs, under their names in the guest."""
    found = (p for p in folder.rglob("*") if p.is_file() and not UNUSED & set(p.relative_to(folder).parts[:-1]))
    kept = (p for p in found if not any(part.startswith("config-") for part in p.parts))
    return {f"{to}/{p.relative_to(folder)}": p.read_bytes() for p in kept}


def python_files(scratch: Path) -> dict[str, bytes]:
    """This interpreter, pytest and python-can, our sources, and what the test compiles: the guest has no compiler."""
    here = Path(__file__).parents[1]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={scratch / 'base'}", TEST]
    subprocess.run(command, cwd=here, check=True, stdout=subprocess.DEVNULL)
    home = Path(sys.base_prefix)
    library = next((home / "lib").glob(f"python3.{sys.version_info.minor}"))
    files = {"python/bin/python3": Path(sys.executable).resolve().read_bytes()}
    files |= below(library, f"python/lib/{library.name}")
    for name in PACKAGES:
        origin = find_spec(name)
        assert origin is not None and origin.origin is not None, name
        place = Path(origin.origin)
        is_package = place.name == "__init__.py"
        files |= below(place.parent, f"site/{name}") if is_package else {f"site/{place.name}": place.read_bytes()}
    files |= below(here / "src", "src") | below(here / "tests" / "devices", "tests/devices")
    files["tests/conftest.py"] = (here / "tests" / "conftest.py").read_bytes()
    files |= below(scratch / "khz-cache", "tmp/khz-cache")
    files["cc"] = f"#!/bin/sh\n/bin/busybox cat <<'END'\n{find_compiler().version}\nEND\n".encode()
    shared = [Path(sys.executable).resolve(), *library.rglob("lib-dynload/*.so")]
    return files | {f"lib/{p.name}": p.read_bytes() for p in libraries_of(shared) if "ld-linux" not in p.name}


def initramfs(root: Path, kernel: Path, more: dict[str, bytes]) -> bytes:
    """A `newc` archive: busybox, the peers, the modules, the probe, and what they load."""
    probe, busybox = build_probe(), next(p for p in root.rglob("busybox") if p.parent.name == "bin")
    peers = [root / "usr/bin/cansend", root / "usr/bin/candump"]
    comedi = next(p for p in root.rglob("libcomedi.so.0") if p.exists())
    files = {"init": INIT.encode(), "bin/busybox": busybox.read_bytes(), "probe": probe.read_bytes()}
    files |= {p.name: p.read_bytes() for p in peers}
    files["lib/libcomedi.so.0"] = comedi.read_bytes()
    for name in ("can", "can-raw", "can-dev", "vcan", "comedi", "comedi_test"):
        files[f"{name}.ko"] = next(kernel.rglob(f"{name}.ko")).read_bytes()
    for library in libraries_of([probe, *peers, comedi]):
        files[str(library).lstrip("/") if "ld-linux" in library.name else f"lib/{library.name}"] = library.read_bytes()
    files |= more
    folders = {str(f) for name in files for f in Path(name).parents if str(f) != "."} | {"dev", "proc", "tmp"}
    archive = b"".join(entry(f, b"", 0o040755) for f in sorted(folders))
    archive += entry("bin/sh", b"busybox", 0o120777)
    return archive + b"".join(entry(n, d, 0o100755) for n, d in files.items()) + entry("TRAILER!!!", b"", 0)


def entry(name: str, data: bytes, mode: int) -> bytes:
    size = len(name) + 1
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, size, 0)
    head = b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def boot(qemu: str, kernel: Path, archive: bytes, share: Path | None) -> str:
    with tempfile.NamedTemporaryFile() as file:
        file.write(archive)
        file.flush()
        image = next((kernel / "boot").glob("vmlinuz*"))
        command = [
            qemu,
            "-accel",
            "tcg",
            "-m",
            "1024",
            "-nographic",
            "-no-reboot",
            "-kernel",
            str(image),
            "-initrd",
            file.name,
        ]
        command += ["-append", "console=ttyS0 quiet panic=-1", *(("-L", str(share)) if share else ())]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=900, check=False, stdin=subprocess.DEVNULL
        )
    return done.stdout + done.stderr


EXPECTED = (
    (r"PREEMPT_RT", "the guest is a PREEMPT_RT kernel"),
    (r"came -2 0\b", "a frame of cansend, 0x100#FEFF, is -2"),
    (r"came -2 258\b", "an extended frame, Motorola, 0102, is 258"),
    (r"dump .*vcan0 200#0000C03F", "candump sees the float 1.5"),
    (r"dump .*vcan0 18FF0002#02", "candump sees 2.5 rounded to even in 8 bits"),
    (r"received 2 sent \d+ malformed 1 refused 0", "one frame was too short; others never reached the task"),
    (
        r"received 300 sent 300 malformed 0 refused 0 worst (\d\S*e-05|0\.0001[0-5])",
        "comedi_test gives back its outputs within half a step",
    ),
)


BY_PYTEST = (
    (
        r"PASSED tests/devices/test_can.py::test_frames_on_a_virtual_bus",
        "frames of python-can reach the port, and those of the port python-can",
    ),
    (r"\n\d+ passed(, \d+ skipped)? in ", "no test of test_can.py fails there"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("kernel", type=Path)
    parser.add_argument("--qemu", default=shutil.which("qemu-system-x86_64") or "qemu-system-x86_64")
    parser.add_argument("--firmware", type=Path, help="folder of qemu's firmware, where it is not installed")
    parser.add_argument("--pytest", action="store_true", help="also run the CAN test of this repository in the guest")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        more = python_files(Path(scratch)) if arguments.pytest else {}
    archive = initramfs(arguments.root, arguments.kernel, more)
    text = boot(arguments.qemu, arguments.kernel, archive, arguments.firmware)
    if os.environ.get("KHZ_DEBUG"):
        print(text)
    expected = (*EXPECTED, *(BY_PYTEST if arguments.pytest else ()))
    seen = [re.search(pattern, text) is not None for pattern, _ in expected]
    for good, (_, what) in zip(seen, expected, strict=True):
        print("yes" if good else "no ", what)
    return 0 if all(seen) else 1


if __name__ == "__main__":
    sys.exit(main())
