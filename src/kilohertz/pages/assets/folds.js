// A place on the page that lies in a closed fold: the fold opens when something leads there.
(function () {
  function show() {
    const place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place) return;
    for (let at = place; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    place.scrollIntoView({ block: place.tagName === "DETAILS" ? "start" : "center" });
  }
  addEventListener("hashchange", show);
  show();
})();
