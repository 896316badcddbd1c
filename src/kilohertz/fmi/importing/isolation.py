"""A filter on system calls for the process that an FMU runs in: it computes, reads files, and does nothing else.

Refused with EPERM: opening files to write, changing folders' contents, sockets, programs and processes (threads are
allowed), signals to others, looking into other processes, privileges.  Calls whose arguments a filter cannot see are
said not to be there (ENOSYS), so that the C library takes the older ones.  What was open before stays open.

A filter of Berkeley packet filter instructions (seccomp); it cannot be taken off again, and threads inherit it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from dataclasses import dataclass

_NO_NEW_PRIVILEGES, _SET_FILTER, _FILTER_MODE = 38, 22, 2  # of prctl
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06  # BPF: load a word, jump if, jump if a bit, return
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16  # of struct seccomp_data
_OTHER_NUMBERS = 0x40000000  # the same calls once more, for pointers of 32 bits
_THREAD = 0x00010000  # CLONE_THREAD
_WRITES = 0x3 | 0x40 | 0x200 | 0x400  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND


# system calls by name, their number on x86-64 and on aarch64
_REFUSED = """
socket/41/198 connect/42/203 accept/43/202 bind/49/200 listen/50/201 socketpair/53/199 accept4/288/242
fork/57/- vfork/58/- execve/59/221 execveat/322/281 kill/62/129 tkill/200/130 ptrace/101/117
process_vm_readv/310/270 process_vm_writev/311/271 pidfd_open/434/434 pidfd_getfd/438/438 truncate/76/45
rename/82/- mkdir/83/- rmdir/84/- creat/85/- link/86/- unlink/87/- symlink/88/- chmod/90/- chown/92/-
lchown/94/- mknod/133/- mkdirat/258/34 mknodat/259/33 fchownat/260/54 unlinkat/263/35 renameat/264/38
linkat/265/37 symlinkat/266/36 fchmodat/268/53 renameat2/316/276 mount/165/40 umount2/166/39 pivot_root/155/41
chroot/161/51 setuid/105/146 setgid/106/144 unshare/272/97 setns/308/268 keyctl/250/219 bpf/321/280
perf_event_open/298/241 init_module/175/105 finit_module/313/273 reboot/169/142 swapon/167/224
userfaultfd/323/282
"""
_ABSENT = "clone3/435/435 openat2/437/437 io_uring_setup/425/425"


@dataclass(frozen=True, slots=True)
class _Machine:
    """Numbers of system calls on a machine, as the kernel calls it."""

    audit: int
    column: int  # of the tables above
    clone: int
    opens: dict[int, int]  # calls that open files: which argument holds the flags

    def numbers(self, table: str) -> list[int]:
        """Those of a table that this machine has."""
        words = (word.split("/")[self.column] for word in table.split())
        return [int(word) for word in words if word != "-"]


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 1, 56, {2: 1, 257: 2}),
    "aarch64": _Machine(0xC00000B7, 2, 220, {56: 2}),
}


class IsolationRefused(Exception):
    """The system does not take the filter."""


def isolate() -> None:
    """From here on this thread, and all it starts, can do no more than said above."""
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        raise IsolationRefused(f"there is no filter for {platform.machine()}")
    program = _program(machine)
    held = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    asked = (_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SET_FILTER, _FILTER_MODE, ctypes.c_char_p(head), 0, 0)
    for words in asked:
        if libc.prctl(*(ctypes.c_ulong(w) if isinstance(w, int) else w for w in words)) != 0:
            raise IsolationRefused(f"the system refuses a filter: {os.strerror(ctypes.get_errno())}")


def _program(machine: _Machine) -> bytes:
    """The filter: by machine, by number, by flags."""
    refuse, absent = _said(_REFUSE | errno.EPERM), _said(_REFUSE | errno.ENOSYS)
    code = [_line(_LOAD, _MACHINE_AT), _line(_EQUAL, machine.audit, 1, 0), refuse, _line(_LOAD, _NUMBER_AT)]
    code += [_line(_ANY_BIT, _OTHER_NUMBERS, 0, 1), refuse]
    for number in machine.numbers(_REFUSED):
        code += [_line(_EQUAL, number, 0, 1), refuse]
    for number in machine.numbers(_ABSENT):
        code += [_line(_EQUAL, number, 0, 1), absent]
    for number, place in machine.opens.items():
        flags = _line(_LOAD, _ARGUMENTS_AT + 8 * place)
        code += [_line(_EQUAL, number, 0, 4), flags, _line(_ANY_BIT, _WRITES, 0, 1), refuse, _said(_ALLOW)]
    flags = _line(_LOAD, _ARGUMENTS_AT)
    code += [_line(_EQUAL, machine.clone, 0, 4), flags, _line(_ANY_BIT, _THREAD, 1, 0), refuse, _said(_ALLOW)]
    return b"".join([*code, _said(_ALLOW)])


def _line(operation: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """One instruction; jumps are over so many of those behind it."""
    return struct.pack("HBBI", operation, then, otherwise, value)


def _said(verdict: int) -> bytes:
    return _line(_RETURN, verdict)
