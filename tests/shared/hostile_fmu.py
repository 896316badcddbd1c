"""FMUs that misbehave, made here: what a broken or malicious FMU does, one case each."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from kilohertz.toolchain import find_compiler

# A plant that misbehaves as CASE says.
HOSTILE = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
typedef void *C;
static void *idle(void *p) { return p; }
static double x = 1.0;
static int n = 0;
const char *fmi2GetVersion(void) { return "2.0"; }
C fmi2Instantiate(const char *name, int type, const char *guid, const char *where, const void *calls, int v, int l)
{
    (void)name; (void)type; (void)where; (void)v; (void)l;
    void (*const *logger)(C, const char *, int, const char *, const char *, ...) = calls;
    if (CASE == 1 && guid[0] != '!') {
        (*logger)(NULL, "it", 3, "error", "that is not my guid");
        return NULL;
    }
    return &x;
}
void fmi2FreeInstance(C c) { (void)c; }
int fmi2SetupExperiment(C c, int t, double tolerance, double start, int s, double stop)
{
    (void)c; (void)t; (void)tolerance; (void)start; (void)s; (void)stop;
    return 0;
}
int fmi2EnterInitializationMode(C c) { (void)c; return 0; }
int fmi2ExitInitializationMode(C c) { (void)c; return 0; }
int fmi2Terminate(C c) { (void)c; return 0; }
int fmi2GetReal(C c, const unsigned *r, size_t k, double *v)
{
    (void)c; (void)r;
    for (size_t i = 0; i < k; i++) v[i] = CASE == 5 && n > 5 ? NAN : x;
    return 0;
}
#if CASE != 2
int fmi2DoStep(C c, double t, double h, int p)
{
    (void)c; (void)t; (void)p;
    x -= h * x;
    n++;
    if (CASE == 3 && n > 5) *(volatile int *)NULL = 1;
    for (volatile int i = 0; CASE == 4 && n > 5;) i = 0;
    if (CASE == 6 && n > 5) return 3;
    if (CASE == 7 && n > 5) exit(7);
    if (CASE == 8 && n > 5) return 2;
    if (CASE == 10) { /* x: what it was able to do */
        FILE *f = fopen("written.txt", "w");
        int s = socket(AF_INET, SOCK_STREAM, 0);
        pid_t p = fork();
        if (p == 0) _exit(0);
        x = (f != NULL) + 2 * (s >= 0) + 4 * (p > 0) + 8 * (fopen("/proc/self/status", "r") != NULL);
        x += 16 * (pthread_create(&(pthread_t){0}, NULL, idle, NULL) == 0);
    }
    if (CASE == 9) {
        void *volatile m = malloc(100);
        free(m);
        usleep(1);
        if (n == 3) printf("step %d of %g\n", n, x);
    }
    return 0;
}
#endif
int fmi2GetBooleanStatus(C c, int kind, int *v) { (void)c; (void)kind; *v = CASE == 8; return 0; }
"""
XML = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Hostile" guid="{guid}">
  <CoSimulation modelIdentifier="Hostile"/>
  <DefaultExperiment startTime="0" stopTime="0.02" stepSize="0.001"/>
  <ModelVariables>
    <ScalarVariable name="x" valueReference="0" causality="output"><Real unit="m"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="1"/></Outputs></ModelStructure>
</fmiModelDescription>
"""


def packed(folder: Path, files: dict[str, str | bytes]) -> Path:
    path = folder / "Hostile.fmu"
    with zipfile.ZipFile(path, "w") as out:
        for name, data in files.items():
            out.writestr(name, data)
    return path


def hostile(folder: Path, case: int, description: str = XML) -> Path:
    source, library = folder / "hostile.c", folder / "hostile.so"
    source.write_text(HOSTILE)
    command = [
        *find_compiler().command,
        f"-DCASE={case}",
        "-shared",
        "-fPIC",
        "-o",
        str(library),
        str(source),
        "-lm",
        "-lpthread",
    ]
    subprocess.run(command, check=True, capture_output=True)
    binary = library.read_bytes()
    described = description.replace("{guid}", "!mine" if case != 1 else "another")
    return packed(folder, {"modelDescription.xml": described, "binaries/linux64/Hostile.so": binary})
