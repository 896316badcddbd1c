// Tables: sort by a column, filter, show more rows.
for (const box of document.querySelectorAll(".table")) {
  const data = JSON.parse(document.getElementById("data-" + box.dataset.number).textContent);
  const body = box.querySelector("tbody"), heads = [...box.querySelectorAll("th")];
  const filter = box.querySelector("input"), count = box.querySelector(".count");
  let rows = data.rows, shown = data.shown;
  const most = data.columns.map((c, i) => c.bar ? Math.max(...data.rows.map(r => +r[i][1] || 0), 1e-300) : 0);

  function cell(value, i) {
    const td = document.createElement("td"), column = data.columns[i];
    if (column.number) td.classList.add("number");
    if (value[3]) td.classList.add(value[3]);
    if (column.bar) { td.classList.add("bar"); td.style.setProperty("--share", (+value[1] || 0) / most[i]); }
    if (value[2]) { const a = document.createElement("a"); a.href = value[2]; a.textContent = value[0]; td.append(a); }
    else td.textContent = value[0];
    return td;
  }
  function draw() {
    const words = (filter ? filter.value : "").toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = rows.filter(r => words.every(w => r.some(c => c[0].toLowerCase().includes(w))));
    body.replaceChildren(...fitting.slice(0, shown).map(r => {
      const tr = document.createElement("tr"); tr.append(...r.map(cell)); return tr;
    }));
    count.textContent = fitting.length === rows.length ? rows.length + " rows" : fitting.length + " of " + rows.length + " rows";
    if (fitting.length > shown) {
      const more = document.createElement("button");
      more.type = "button"; more.textContent = "show all"; more.onclick = () => { shown = Infinity; draw(); };
      count.append(" ", more);
    }
  }
  heads.forEach((th, i) => th.querySelector("button").addEventListener("click", () => {
    const down = th.getAttribute("aria-sort") ? th.getAttribute("aria-sort") === "ascending" : data.columns[i].number;
    heads.forEach(h => h.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1;
    rows = [...rows].sort((a, b) => {
      const x = a[i][1], y = b[i][1];
      if (x === null || y === null) return (x === null) - (y === null);
      return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
    });
    draw();
  }));
  if (filter) filter.addEventListener("input", draw);
  draw();
}
