// Icicles: boxes whose width is their cost; a click makes one the whole width, a click on the path goes back up.
function khzIcicle(place, unit) {
  const boxes = place.querySelector(".boxes"), path = place.querySelector(".path");
  let whole = 1, trail = [];

  function words(node) {
    const share = (100 * node.v / whole).toPrecision(3);
    return node.n + ": " + (+node.v.toPrecision(4)) + (unit ? " " + unit : "") + ", " + share + " %" + (node.h ? " — " + node.h : "");
  }
  function hue(text) { let h = 0; for (const c of text) h = (h * 31 + c.charCodeAt(0)) % 360; return h; }
  function level(top) {
    const out = [];
    let depth = 0, now = [{ node: top, left: 0, width: 1 }];
    while (now.length && depth < 60) {
      const next = [];
      for (const { node, left, width } of now) {
        out.push(box(node, top, left, width, depth));
        let x = left;
        for (const child of [...node.c].sort((a, b) => b.v - a.v)) {
          const w = node.v > 0 ? width * child.v / node.v : 0;
          if (w > 0.0008) next.push({ node: child, left: x, width: w });
          x += w;
        }
      }
      now = next; depth += 1;
    }
    return [out, depth];
  }
  function box(node, top, left, width, depth) {
    const made = document.createElement("div");
    made.className = "box"; made.title = words(node); made.textContent = node.n;
    made.style.cssText = `left:${100 * left}%;width:${100 * width}%;top:${22 * depth}px;` +
      `background:hsl(${hue(node.n)} 55% ${Math.max(62, 78 - depth)}%)`;
    made.addEventListener("click", () => { if (node === top && node.l) location.hash = node.l; else open(node); });
    return made;
  }
  function draw() {
    const top = trail[trail.length - 1], [out, depth] = level(top);
    boxes.replaceChildren(...out); boxes.style.height = 22 * depth + "px";
    path.replaceChildren();
    trail.forEach((node, i) => {
      const link = document.createElement("a");
      link.href = "#"; link.textContent = i + 1 < trail.length ? node.n : words(node);
      link.addEventListener("click", e => { e.preventDefault(); trail = trail.slice(0, i + 1); draw(); });
      path.append(...(i ? [" › "] : []), link);
    });
    if (top.l) {
      const link = document.createElement("a");
      link.href = top.l; link.className = "onward"; link.textContent = "more of it ↓";
      path.append(" ", link);
    }
  }
  function open(node) {
    const way = []; // from the box that is the whole width down to the one clicked
    (function find(at) { if (at === node) return true; for (const c of at.c) if (find(c)) { way.unshift(c); return true; } return false; })(trail[trail.length - 1]);
    trail = [...trail, ...way]; draw();
  }
  return root => { whole = root.v || 1; trail = [root]; draw(); };
}
for (const place of document.querySelectorAll(".icicle[data-number]")) {
  const data = JSON.parse(document.getElementById("data-" + place.dataset.number).textContent);
  khzIcicle(place, data.unit)(data.root);
}
