// Each plot goes to its place on the page before it is drawn.
for (const source of document.querySelectorAll("template.plot-source")) {
  document.getElementById(source.dataset.for).append(source.content);
}
