// One of many, opened as an icicle: chosen by a click in a plot, by a link (#cycle-17), by its number, or one after the other.
for (const place of document.querySelectorAll(".opened")) {
  const data = JSON.parse(document.getElementById("data-" + place.dataset.opened).textContent);
  const draw = khzIcicle(place, data.unit), said = place.querySelector(".said"), field = place.querySelector("input");
  let at = 0;

  function filled(node, values) {
    const below = node.c.map(c => filled(c, values)).filter(c => c.v > 0);
    const own = node.i < 0 ? 0 : values[node.i];
    return { n: node.n, l: node.l, h: "", c: below, v: own + below.reduce((sum, c) => sum + c.v, 0) };
  }
  function show(i, scroll) {
    at = Math.max(0, Math.min(data.rows.length - 1, i));
    const row = data.rows[at];
    field.value = row.x;
    said.textContent = row.t.replaceAll("`", "");
    draw(filled(data.shape, row.v));
    if (scroll) place.scrollIntoView({ block: "center" });
    mark(row.x);
  }
  function mark(x) {
    for (const doc of (window.Bokeh ? Bokeh.documents : [])) for (const m of doc._all_models ? doc._all_models.values() : []) {
      if (m.type === "Span" && m.tags.includes("picked-" + data.axis)) m.setv({ location: x, visible: true });
    }
  }
  function nearest(x) {
    let best = 0;
    data.rows.forEach((row, i) => { if (Math.abs(row.x - x) < Math.abs(data.rows[best].x - x)) best = i; });
    return best;
  }
  function led() {
    const found = location.hash.match(/^#(\w+)-(\d+)$/);
    if (found && found[1] === data.name) show(nearest(+found[2]), true);
  }
  place.querySelector(".before").addEventListener("click", () => show(at - 1));
  place.querySelector(".after").addEventListener("click", () => show(at + 1));
  field.addEventListener("change", () => show(nearest(+field.value)));
  document.addEventListener("khz-pick", e => { if (e.detail.axis === data.axis) show(nearest(e.detail.x)); });
  document.addEventListener("khz-ready", () => mark(data.rows[at].x));
  addEventListener("hashchange", led);
  show(data.first);
  led();
}
