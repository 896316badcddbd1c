"""The script that lets a shell complete `khz`: commands, options, their choices, files, classes and parameters.

Commands, options and choices stand in the script, so that a key press starts no Python; names of classes are asked for
with `khz complete names PREFIX`, those of parameters, after --set, with `khz complete parameters PREFIX LINE`: the
model is on the line.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping

from kilohertz.base import Dotted
from kilohertz.solvers.methods import SOLVERS
from kilohertz.solvers.settings import AUTO, SETTINGS
from kilohertz.syntax import Libraries

_BASH = r"""# khz: completion for bash 4 or later
_khz() {
    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" place="khz" word k
    for ((k = 1; k < COMP_CWORD; k++)); do
        word="$place ${COMP_WORDS[k]}"
        [[ -n "${_khz_words[$word]+x}" ]] && place="$word"
    done
    COMPREPLY=()
    if [[ "$before" == --set ]]; then
        mapfile -t COMPREPLY < <(khz complete parameters "$current" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
        compopt +o filenames -o nospace
    elif [[ -n "${_khz_choices[$place $before]+x}" ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${_khz_choices[$place $before]}" -- "$current")
    elif [[ "$current" == -* || " ${_khz_parents[*]} " == *" ${place// /_} "* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${_khz_words[$place]}" -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        if [[ "$current" == [A-Za-z]* && "$current" != */* ]]; then
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(khz complete names "$current" 2>/dev/null)
            [[ ${#COMPREPLY[@]} == 1 && "${COMPREPLY[0]}" == *. ]] && compopt -o nospace
        fi
    fi
}
"""


def script(parser: argparse.ArgumentParser) -> str:
    """The script for this command line."""
    words: dict[str, str] = {}
    choices: dict[str, str] = {}
    parents: list[str] = []
    for place, sub in _places("khz", parser):
        below = _below(sub)
        options = [o for action in sub._actions for o in action.option_strings]
        words[place] = " ".join([*below, *options])
        parents += [place.replace(" ", "_")] if below else []
        for action in sub._actions:
            offered = " ".join(_offered(action))
            choices |= {f"{place} {option}": offered for option in action.option_strings if offered}
    tables = _table("_khz_words", words) + _table("_khz_choices", choices)
    return f"{_BASH}{tables}_khz_parents=({' '.join(parents)})\ncomplete -o filenames -F _khz khz\n"


def names(prefix: str, libraries: Libraries) -> list[str]:
    """Full names of classes that begin so, one level at a time; a package ends with a dot."""
    typed = Dotted.read(prefix)
    outer, start = typed.owner, typed.last
    if not outer.parts:
        tops = [name for name in libraries.names() if name.startswith(start)]
        return [f"{name}." for name in tops]
    package = libraries.find(outer.parts)
    if package is None:
        return []
    children = libraries.children(package)
    inside = {name: children[name]() for name in children if name.startswith(start)}
    return [f"{outer}.{name}{'.' if cls.kind == 'package' else ''}" for name, cls in inside.items()]


def parameters(prefix: str, line: str, parser: argparse.ArgumentParser) -> list[str]:
    """Parameters of the model on a line that begin so, each with `=`, one level at a time: a component ends with a dot.

    None where the line before --set is not whole, or its model is none.
    """
    from kilohertz.base import ModelError
    from kilohertz.driver import load

    try:
        words = shlex.split(line)
        given = parser.parse_args(words[1 : len(words) - words[::-1].index("--set") - 1])
        found = [p.name for p in load(given.model, given.library).parameters if p.name.startswith(prefix)]
    except (SystemExit, ValueError, AttributeError, ModelError):
        return []
    typed = len(Dotted.read(prefix).owner.parts)
    levels = (Dotted.read(name).parts for name in found)
    return list(dict.fromkeys(".".join(p[: typed + 1]) + ("." if len(p) > typed + 1 else "=") for p in levels))


def _offered(action: argparse.Action) -> list[str]:
    """The values of an option, where they are a few words; settings of the step know theirs themselves."""
    setting = SETTINGS.get(action.dest)
    if setting is not None and setting.kind == "solver":
        return [AUTO, *SOLVERS]
    return [str(c) for c in (setting.choices if setting is not None else action.choices) or ()]


def _places(place: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield place, parser
    for name, sub in _below(parser).items():
        yield from _places(f"{place} {name}", sub)


def _below(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _table(name: str, entries: dict[str, str]) -> str:
    lines = [f"    [{shlex.quote(key)}]={shlex.quote(value)}" for key, value in entries.items()]
    return "\n".join([f"declare -A {name}=(", *lines, ")\n"])
