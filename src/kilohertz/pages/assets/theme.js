// Light or dark: as the system has it, until the button says otherwise.  Plots follow.
(function () {
  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("khz-theme"); } catch (e) { /* pages from disk may have no storage */ }
  function paint() {
    root.dataset.theme = chosen || (system.matches ? "dark" : "light");
    const css = getComputedStyle(root), of = name => css.getPropertyValue(name).trim();
    for (const doc of (window.Bokeh ? Bokeh.documents : [])) {
      for (const m of doc._all_models ? doc._all_models.values() : []) colour(m, of);
    }
  }
  function colour(m, of) {
    if (m.type === "Figure") m.setv({ background_fill_color: of("--bg"), border_fill_color: of("--bg"), outline_line_color: of("--line") });
    else if (m.type === "Title") m.setv({ text_color: of("--fg") });
    else if (/Axis$/.test(m.type)) m.setv({ axis_label_text_color: of("--fg"), major_label_text_color: of("--soft"),
      axis_line_color: of("--line"), major_tick_line_color: of("--line"), minor_tick_line_color: of("--line") });
    else if (m.type === "Grid") m.setv({ grid_line_color: of("--line") });
    else if (m.type === "Legend") m.setv({ label_text_color: of("--fg"), background_fill_color: of("--panel"),
      background_fill_alpha: 0.8, border_line_color: of("--line"), inactive_fill_color: of("--line") });
  }
  document.getElementById("theme").addEventListener("click", function () {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("khz-theme", chosen); } catch (e) { /* as above */ }
    paint();
  });
  system.addEventListener("change", paint);
  paint();
  // Plots come when the page has loaded.
  addEventListener("load", function wait() {
    const wanted = document.querySelectorAll(".plot").length;
    const there = window.Bokeh ? Bokeh.documents.reduce((n, d) => n + d.roots().length, 0) : 0;
    if (there < wanted) setTimeout(wait, 50); else { paint(); root.dataset.ready = "yes"; document.dispatchEvent(new CustomEvent("khz-ready")); }
  });
})();
