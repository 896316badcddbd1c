"""Which columns of the Jacobian are found together, and how long sums are put together, as constant C data
(khz_colours and khz_sums in khz_model.h)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kilohertz.codegen.plain import with_instance
from kilohertz.codegen.plans import array, pointer, starts
from kilohertz.cost import StateJacobian

Arrays = dict[str, list[int]]


def colour_tables(jacobian: StateJacobian, dense: bool) -> tuple[list[str], list[str]]:
    """Lines of the tables; the members of khz_model that find them."""
    arrays = _coloured(_columns(jacobian.colours, jacobian.n_colours), _entries(jacobian.rows, jacobian.colours))
    lines = _written("colour_", arrays, dense)
    members = [f"    .colours = {_struct('colour_', arrays, jacobian.n_colours, dense)},"]
    if jacobian.sums is not None:
        lines += _Sums(jacobian).lines(dense)
        members.append("    .sums = &sums, .parts = offsetof(khz_instance, parts),")
    return lines, members


def around_lines(jacobian: StateJacobian, n_lanes: int) -> tuple[list[str], list[str]]:
    """Functions around the calls of `directional`, which set seeds and take entries, and the member that finds them;
    none where the tables do."""
    if not jacobian.is_taken_by_code:
        return [], []
    columns = _columns(jacobian.colours, jacobian.n_colours)
    entries = _entries(jacobian.rows, jacobian.colours)
    lines, names = list[str](), list[str]()
    for first in range(0, jacobian.n_colours, n_lanes):
        lanes = [(k - first, k) for k in range(first, min(first + n_lanes, jacobian.n_colours))]
        names.append(f"around_{len(names) + 1}")
        ones = [f"z->seed[{j}][{lane}] = 1.0;" for lane, k in lanes for j in columns[k]]
        taken = [f"jac[{entry}] = z->xd_dir[{i}][{lane}];" for lane, k in lanes for entry, i in entries[k]]
        zeros = [f"z->seed[{j}][{lane}] = 0.0;" for lane, k in lanes for j in columns[k]]
        body = ["if (jac == NULL) {", *(f"    {one}" for one in ones), "    return;", "}", *taken, *zeros]
        lines += with_instance(f"static void {names[-1]}(void *instance, double *jac)", body)
    lines += [f"static const khz_around_fn around[] = {{{', '.join(names)}}};", ""]
    return lines, ["    .around = around,"]


def n_parts(jacobian: StateJacobian) -> int:
    """Slopes of sums, and of rows along sums."""
    return 0 if jacobian.sums is None else len(_Sums(jacobian).parts)


def _columns(colours: Sequence[int], n: int) -> list[list[int]]:
    columns: list[list[int]] = [[] for _ in range(n)]
    for j, colour in enumerate(colours):
        columns[colour].append(j)
    return columns


def _entries(rows: Sequence[Sequence[int]], colours: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Entries with their rows, colour by colour."""
    groups: list[list[tuple[int, int]]] = [[] for _ in range(max(colours, default=-1) + 1)]
    for entry, (i, j) in enumerate((i, j) for i, row in enumerate(rows) for j in row):
        groups[colours[j]].append((entry, i))
    return groups


def _coloured(columns: list[list[int]], entries: list[list[tuple[int, int]]]) -> Arrays:
    return {
        "seed_start": starts(columns),
        "seed_column": _joined(columns),
        "start": starts(entries),
        "entry": [k for group in entries for k, _ in group],
        "row": [i for group in entries for _, i in group],
    }


def _joined(groups: Iterable[Iterable[int]]) -> list[int]:
    return [k for group in groups for k in group]


def _written(prefix: str, arrays: Arrays, dense: bool) -> list[str]:
    return [line for name, values in arrays.items() if values for line in array(prefix + name, values, dense=dense)]


def _members(prefix: str, arrays: Arrays, dense: bool) -> str:
    return ", ".join(f".{name} = {pointer(prefix + name, dense)}" for name, values in arrays.items() if values)


def _struct(prefix: str, arrays: Arrays, n: int, dense: bool) -> str:
    return f"{{.n = {n}, {_members(prefix, arrays, dense)}}}"


class _Sums:
    """Parts: the slope of each sum along y, then that of each row along sums."""

    def __init__(self, jacobian: StateJacobian) -> None:
        assert jacobian.sums is not None
        self._jacobian, self._sums = jacobian, jacobian.sums
        n, terms = self._sums.n_y, self._sums.rows[self._sums.n_y :]
        self._slopes: list[set[int]] = [set() for _ in range(self._sums.n)]  # the y that a sum depends on
        for k, row in zip(self._sums.of_terms, terms, strict=True):
            self._slopes[k].update(row)
        self._weights = [(i, j - n) for i, row in enumerate(self._sums.rows[:n]) for j in row if j >= n]
        pairs = [("slope", k, j) for k, columns in enumerate(self._slopes) for j in sorted(columns)]
        self.parts: Mapping[tuple[str, int, int], int] = {
            part: at for at, part in enumerate([*pairs, *(("weight", i, k) for i, k in self._weights)])
        }

    def lines(self, dense: bool) -> list[str]:
        sums = self._sums
        n = max(sums.colours) + 1
        along = _coloured(_columns(sums.colours, n), self._direct(n))
        arrays = self._of_parts(n) | self._products()
        members = _members("sums_", arrays, dense)
        return [
            *_written("along_", along, dense),
            *_written("sums_", arrays, dense),
            "static const khz_sums sums = {",
            f"    .along = {_struct('along_', along, n, dense)},",
            f"    .n_of_y = {sums.n_of_y}, .n_parts = {len(self.parts)}, {members},",
            "};",
            "",
        ]

    def _direct(self, n: int) -> list[list[tuple[int, int]]]:
        """Entries of the Jacobian that do not come through sums alone."""
        groups: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for (i, j), entry in self._places().items():
            if j in self._sums.rows[i]:
                groups[self._sums.colours[j]].append((entry, i))
        return groups

    def _places(self) -> dict[tuple[int, int], int]:
        pairs = ((i, j) for i, row in enumerate(self._jacobian.rows) for j in row)
        return {pair: entry for entry, pair in enumerate(pairs)}

    def _of_parts(self, n: int) -> Arrays:
        n_y, colours = self._sums.n_y, self._sums.colours
        groups: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for i, row in enumerate(self._sums.rows):
            for j in row:
                if i >= n_y:
                    groups[colours[j]].append((self.parts["slope", self._sums.of_terms[i - n_y], j], i))
                elif j >= n_y:
                    groups[colours[j]].append((self.parts["weight", i, j - n_y], i))
        return {
            "part_start": starts(groups),
            "part": [part for group in groups for part, _ in group],
            "part_row": [i for group in groups for _, i in group],
        }

    def _products(self) -> Arrays:
        """What the chain rule adds to entries, by colours of y."""
        places, colours, n = self._places(), self._sums.colours, self._sums.n_of_y
        empty: list[list[int]] = [[] for _ in range(n)]
        products: list[list[tuple[int, int, int]]] = [[] for _ in range(n)]
        for i in dict.fromkeys(i for i, _ in self._weights):
            for j in self._jacobian.rows[i]:
                if j not in self._sums.rows[i]:
                    empty[colours[j]].append(places[i, j])
        for i, k in self._weights:
            for j in sorted(self._slopes[k]):
                product = places[i, j], self.parts["weight", i, k], self.parts["slope", k, j]
                products[colours[j]].append(product)
        flat = [product for group in products for product in group]
        return {
            "empty_start": starts(empty),
            "empty": _joined(empty),
            "product_start": starts(products),
            "product_entry": [entry for entry, _, _ in flat],
            "product_weight": [weight for _, weight, _ in flat],
            "product_slope": [slope for _, _, slope in flat],
        }
