// Tables: sort by a column, filter, show more rows; a link to a row shows and marks it.
for (const box of document.querySelectorAll(".table")) {
  const data = JSON.parse(document.getElementById("data-" + box.dataset.number).textContent);
  const body = box.querySelector("tbody"), heads = [...box.querySelectorAll("th")];
  const filter = box.querySelector("input"), count = box.querySelector(".count");
  data.rows.forEach((row, i) => { row.anchor = data.anchors[i] || ""; });
  let rows = data.rows, shown = data.shown;
  const most = data.columns.map((c, i) => c.bar ? Math.max(...data.rows.map(r => +r[i][1] || 0), 1e-300) : 0);

  function link(text, target) {
    const a = document.createElement("a");
    a.href = target;
    text.split(/(?<=[/\]])|(?<=\.)(?!mo\b)/).forEach((part, k) => a.append(...(k ? [document.createElement("wbr")] : []), part));
    return a;
  }
  function coded(text) { // `code` between backquotes
    return text.split("`").map((part, k) => {
      if (k % 2 === 0) return part;
      const code = document.createElement("code");
      code.textContent = part;
      return code;
    });
  }
  function cell(value, i) {
    const td = document.createElement("td"), column = data.columns[i];
    if (column.number) td.classList.add("number");
    if (value[3]) td.classList.add(value[3]);
    if (column.bar) { td.classList.add("bar"); td.style.setProperty("--share", (+value[1] || 0) / most[i]); }
    if (value[2]) td.append(link(value[0], value[2])); else td.append(...coded(value[0]));
    (value[4] || []).forEach(([text, target], k) => td.append(...(k ? [" · "] : value[0] ? [" "] : []), link(text, target)));
    return td;
  }
  function text(value) { return (value[0] + " " + (value[4] || []).map(l => l[0]).join(" ")).toLowerCase(); }
  function draw() {
    const words = (filter ? filter.value : "").toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = rows.filter(r => words.every(w => r.some(c => text(c).includes(w))));
    body.replaceChildren(...fitting.slice(0, shown).map(r => {
      const tr = document.createElement("tr");
      if (r.anchor) tr.id = r.anchor;
      tr.append(...r.map(cell));
      return tr;
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
  function show() {
    const wanted = decodeURIComponent(location.hash.slice(1));
    if (!wanted || !data.anchors.includes(wanted)) return;
    if (!document.getElementById(wanted)) {
      if (filter) filter.value = "";
      shown = Infinity;
      draw();
    }
    const row = document.getElementById(wanted);
    for (const other of document.querySelectorAll("tr.aim")) other.classList.remove("aim");
    row.classList.add("aim");
    for (let at = row; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    row.scrollIntoView({ block: "center" });
  }
  if (filter) filter.addEventListener("input", draw);
  draw();
  addEventListener("hashchange", show);
  show();
}
