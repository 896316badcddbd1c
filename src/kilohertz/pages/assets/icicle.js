// Icicles: boxes whose width is their cost; a click makes one the whole width, a click on the path goes back up.
for (const place of document.querySelectorAll(".icicle")) {
  const data = JSON.parse(document.getElementById("data-" + place.dataset.number).textContent);
  const boxes = place.querySelector(".boxes"), path = place.querySelector(".path");
  const whole = data.root.v || 1;
  let trail = [data.root];

  function words(node) {
    const share = (100 * node.v / whole).toPrecision(3);
    return node.n + ": " + (+node.v.toPrecision(4)) + (data.unit ? " " + data.unit : "") + ", " + share + " %" + (node.h ? " — " + node.h : "");
  }
  function hue(text) { let h = 0; for (const c of text) h = (h * 31 + c.charCodeAt(0)) % 360; return h; }
  function draw() {
    const top = trail[trail.length - 1], out = [];
    let depth = 0, level = [{ node: top, left: 0, width: 1 }];
    while (level.length && depth < 60) {
      const next = [];
      for (const { node, left, width } of level) {
        const box = document.createElement("div");
        box.className = "box"; box.title = words(node); box.textContent = node.n;
        box.style.cssText = `left:${100 * left}%;width:${100 * width}%;top:${22 * depth}px;` +
          `background:hsl(${hue(node.n)} 55% ${Math.max(62, 78 - depth)}%)`;
        box.addEventListener("click", () => {
          if (node === top && node.l) location.hash = node.l; else open(node);
        });
        out.push(box);
        let x = left;
        for (const child of [...node.c].sort((a, b) => b.v - a.v)) {
          const w = node.v > 0 ? width * child.v / node.v : 0;
          if (w > 0.0008) next.push({ node: child, left: x, width: w });
          x += w;
        }
      }
      level = next; depth += 1;
    }
    boxes.replaceChildren(...out); boxes.style.height = 22 * depth + "px";
    path.replaceChildren();
    trail.forEach((node, i) => {
      const link = document.createElement("a");
      link.href = "#"; link.textContent = i + 1 < trail.length ? node.n : words(node);
      link.addEventListener("click", e => { e.preventDefault(); trail = trail.slice(0, i + 1); draw(); });
      path.append(...(i ? [" › "] : []), link);
    });
  }
  function open(node) {
    const way = []; // from the box that is the whole width down to the one clicked
    (function find(at) { if (at === node) return true; for (const c of at.c) if (find(c)) { way.unshift(c); return true; } return false; })(trail[trail.length - 1]);
    trail = [...trail, ...way]; draw();
  }
  draw();
}
