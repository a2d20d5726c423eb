// Follows a running sweep: the server sends the content of the page anew when a
// level was measured, and a line of status in between.
(() => {
  "use strict";
  const main = document.querySelector("main"), status = document.getElementById("status");
  const fragment = (html) => { const t = document.createElement("template"); t.innerHTML = html; return t.content.firstElementChild; };

  function show(state) {
    document.title = state.title;
    document.getElementById("head").replaceWith(fragment(state.head));
    document.querySelector("footer").textContent = state.footer;
    let before = document.getElementById("head");
    const wanted = new Set(state.sections.map((s) => s.id));
    for (const old of main.querySelectorAll("section")) if (!wanted.has(old.id)) old.remove();
    for (const s of state.sections) {
      const old = document.getElementById(s.id), e = fragment(s.html), focused = document.activeElement;
      if (old) {
        old.querySelectorAll("details").forEach((d, i) => { const same = e.querySelectorAll("details")[i]; if (same) same.open = d.open; });
        old.replaceWith(e);
      }
      for (const [id, data] of Object.entries(s.charts ?? {})) {
        const chart = old?.querySelector("#" + id);
        if (!chart) continue; // drawn below, by open
        e.querySelector("#" + id).replaceWith(chart); // it keeps what the reader chose
        window.kneesweep.figures.get(id).update(data);
      }
      if (e.contains(focused)) focused.focus({ preventScroll: true });
      if (before.nextElementSibling !== e) before.after(e);
      before = e;
    }
    window.kneesweep.open();
  }

  const events = new EventSource("events" + location.search);
  events.addEventListener("state", (e) => show(JSON.parse(e.data)));
  events.addEventListener("status", (e) => { status.textContent = JSON.parse(e.data); });
  events.addEventListener("end", (e) => { events.close(); status.textContent = JSON.parse(e.data); status.dataset.ended = "true"; });
  events.addEventListener("error", () => { if (!status.dataset.ended) status.textContent = "The sweep no longer answers; what is shown is its last state."; });
})();
