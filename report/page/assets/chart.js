// Draws the charts of the page from their data, which stand beside them as JSON.
// Everything is drawn anew when the reader changes something: it takes milliseconds.
(() => {
  "use strict";
  const root = document.documentElement;
  const figures = new Map();
  const round = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
  const number = (v) => (v === 0 ? "0" : Math.abs(v) < 1e-4 || Math.abs(v) >= 1e12 ? v.toExponential(2) : round.format(v));
  const streams = (v) => (v >= 9.95 ? Math.round(v).toLocaleString("en-US") : round.format(v));
  const known = (v) => v !== null && v !== undefined;
  const label = (panel, series) => (panel.series.length > 1 ? `${panel.short} ${series.name}` : panel.short);
  const tone = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const element = (name, attributes = {}, ...children) => {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children);
    return e;
  };

  // steps are round values within [lo, hi], about n of them.
  function steps(lo, hi, n, log) {
    if (log) {
      const all = [];
      for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi)); e++)
        for (const m of [1, 2, 5]) all.push(m * 10 ** e);
      const inside = all.filter((v) => v >= lo && v <= hi);
      const decades = inside.filter((v) => Number.isInteger(Math.round(Math.log10(v) * 1e9) / 1e9));
      if (inside.length > n && decades.length >= 2) return decades;
      if (inside.length >= 2) return inside;
    }
    const raw = (hi - lo) / n, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999);
    const out = [];
    for (let v = Math.ceil(lo / step) * step; v <= hi + step * 1e-6; v += step) out.push(Number(v.toPrecision(12)));
    return out;
  }

  // levelSteps are the powers of two among the streams on a logarithmic axis, thinned to the room.
  function levelSteps(lo, hi, width, log) {
    const room = Math.max(2, Math.floor(width / 46));
    if (!log) return steps(lo, hi, room, false).filter(Number.isInteger);
    let all = [];
    for (let v = 1; v <= hi; v *= 2) if (v >= lo) all.push(v);
    if (all.length < 3) return steps(lo, hi, room, true);
    while (all.length > room) all = all.filter((_, i) => i % 2 === 0);
    return all;
  }

  class Figure {
    constructor(e) {
      this.e = e;
      this.hidden = new Set();
      this.chosen = {};
      this.index = null;
      this.plots = [];
      this.box = e.querySelector(".plots");
      this.update(JSON.parse(e.querySelector("script.data").textContent));
      this.box.addEventListener("keydown", (event) => this.key(event));
      new ResizeObserver(() => { if (this.box.clientWidth !== this.width) this.draw(); }).observe(this.box);
    }

    update(data) {
      for (const list of ["levels", "bands", "marks", "panels"]) data[list] ??= []; // Go writes an empty list as null
      this.data = data;
      this.controls();
      this.draw();
    }

    // Each axis is as the data ask for, until the reader chooses.
    get logStreams() { return this.chosen.Streams ?? this.data.log; }
    log(p) { return !p.fixed && (this.chosen.Latency ?? p.log); }
    pressed(name) {
      const all = name === "Streams" ? [this.logStreams] : this.data.panels.filter((p) => !p.fixed).map((p) => this.log(p));
      return all.every((v) => v === all[0]) ? all[0] : null;
    }

    // controls are a button for each series and one pair for each kind of axis.
    controls() {
      const bar = this.e.querySelector(".controls");
      const names = new Map();
      for (const p of this.data.panels) {
        for (const s of p.series) names.set(s.name, { tone: s.tone, text: names.has(s.name) ? s.name : label(p, s) });
        if (p.dots?.some((d) => d?.length)) names.set("windows", { tone: "pale-blue", text: "windows" });
        if (p.line?.length) names.set("fitted line", { tone: "ink", text: "fitted line" });
      }
      const shape = [...names.keys(), this.data.panels.some((p) => !p.fixed)].join("|");
      if (bar.dataset.shape === shape) return;
      bar.dataset.shape = shape;
      const series = element("fieldset", {}, element("legend", {}, "Show"));
      for (const [name, { tone, text }] of names) {
        const b = element("button", { type: "button", "aria-pressed": String(!this.hidden.has(name)) }, element("span", { class: "swatch tone-" + tone, "aria-hidden": "true" }), text);
        b.addEventListener("click", () => {
          this.hidden.has(name) ? this.hidden.delete(name) : this.hidden.add(name);
          b.setAttribute("aria-pressed", String(!this.hidden.has(name)));
          this.draw();
        });
        series.append(b);
      }
      bar.replaceChildren(series, this.scaleControl("Streams"));
      if (this.data.panels.some((p) => !p.fixed)) bar.append(this.scaleControl("Latency"));
    }

    scaleControl(name) {
      const set = element("fieldset", { class: "scale" }, element("legend", {}, name));
      for (const log of [false, true]) {
        const b = element("button", { type: "button", "aria-pressed": String(this.pressed(name) === log), "aria-label": `${name}: ${log ? "logarithmic" : "linear"} axis` }, log ? "log" : "linear");
        b.addEventListener("click", () => {
          this.chosen[name] = log;
          for (const other of set.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === b));
          this.draw();
        });
        set.append(b);
      }
      return set;
    }

    draw() {
      const at = this.index;
      for (const p of this.plots) p.destroy();
      this.width = this.box.clientWidth;
      this.box.replaceChildren();
      this.plots = this.width > 0 && this.data.levels.length ? this.data.panels.map((p, i) => this.panel(p, i)) : [];
      this.index = null;
      if (at !== null && at < this.data.levels.length) this.move(at);
      else this.say();
    }

    panel(p, i) {
      const log = this.log(p);
      const title = element("h3", {}, p.title, " ", element("span", { class: "unit" }, p.unit + (log ? ", logarithmic" : "")));
      const place = element("div");
      this.box.append(title, place);
      const ink = tone("ink"), muted = tone("muted"), grid = tone("grid");
      const font = "12px " + getComputedStyle(document.body).fontFamily;
      const ys = this.range(p, log), xs = this.rangeX();
      const last = i === this.data.panels.length - 1;
      const axis = { stroke: muted, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
      const options = {
        width: this.width, height: (i === 0 && p.fixed ? 250 : 140) + (i === 0 ? this.data.marks.length * 15 : 0) + (last ? 20 : 0),
        padding: [10 + (i === 0 ? this.data.marks.length * 15 : 0), 14, last ? 0 : 4, 0],
        legend: { show: false },
        cursor: { sync: { key: this.e.id }, drag: { x: false, y: false, setScale: false }, y: false, points: { size: 9 } },
        scales: { x: { time: false, distr: this.logStreams ? 3 : 1, log: 10, range: () => xs }, y: { distr: log ? 3 : 1, log: 10, range: () => ys } },
        axes: [
          { ...axis, size: 22, gap: 4, splits: (u) => levelSteps(xs[0], xs[1], u.bbox.width / devicePixelRatio, this.logStreams), values: (u, s) => s.map(streams), filter: (u, s) => s, label: last ? "Parallel streams, N" + (this.logStreams ? " (logarithmic)" : "") : undefined, labelSize: 20, labelFont: font, labelGap: 0 },
          { ...axis, size: 58, splits: () => steps(ys[0], ys[1], 5, log), values: (u, s) => s.map(number), filter: (u, s) => s },
        ],
        series: [{}, ...p.series.map((s) => ({
          stroke: tone(s.tone), width: s.loose ? 0 : 2, dash: s.dash ?? undefined, show: !this.hidden.has(s.name), points: { show: false }, label: s.name,
        }))],
        hooks: {
          drawClear: [(u) => this.under(u, p)],
          drawAxes: [(u) => this.behind(u, p)],
          draw: [(u) => this.over(u, p, i)],
          setCursor: [(u) => { if (u.cursor.idx !== this.index && known(u.cursor.idx)) { this.index = u.cursor.idx; this.say(); } }],
        },
      };
      const usable = (v, k) => (known(v) && this.data.levels[k].valid && (!log || v > 0) ? v : null);
      const data = [this.data.levels.map((l) => l.n), ...p.series.map((s) => s.values.map(usable))];
      return new uPlot(options, data, place);
    }

    rangeX() {
      const all = this.data.levels.map((l) => l.n), lo = Math.min(...all), hi = Math.max(...all);
      if (this.logStreams) return lo === hi ? [lo / 2, hi * 2] : [lo / (hi / lo) ** 0.035, hi * (hi / lo) ** 0.045];
      return [0, hi * 1.06];
    }

    range(p, log) {
      let all = [];
      for (const s of p.series) if (!this.hidden.has(s.name)) all.push(...s.values, ...(s.hi ?? []).filter((_, k) => this.data.levels[k].valid));
      if (!this.hidden.has("windows")) all.push(...(p.dots ?? []).flat());
      if (known(p.level)) all.push(p.level);
      all = all.filter((v) => known(v) && (!log || v > 0));
      if (!all.length) return log ? [1, 10] : [0, 1];
      const lo = Math.min(...all), hi = Math.max(...all);
      return log ? [lo / 1.35, hi * 1.35] : [0, (hi || 1) * 1.08];
    }

    // under draws what lies below the grid: the intervals of streams.
    under(u, p) {
      const { left, top, width, height } = u.bbox;
      u.ctx.save();
      for (const b of this.data.bands) {
        const from = Math.max(left, u.valToPos(b.from, "x", true)), to = Math.min(left + width, u.valToPos(b.to, "x", true));
        u.ctx.fillStyle = tone("band");
        if (to >= from) u.ctx.fillRect(from, top, Math.max(to - from, 2 * devicePixelRatio), height);
      }
      u.ctx.restore();
    }

    // behind draws what lies below the series: windows, plateau, fitted line.
    behind(u, p) {
      const c = u.ctx, px = devicePixelRatio, x = (v) => u.valToPos(v, "x", true), y = (v) => u.valToPos(v, "y", true);
      const { left, top, width, height } = u.bbox;
      c.save();
      c.beginPath(); c.rect(left, top - 4 * px, width, height + 8 * px); c.clip();
      if (!this.hidden.has("windows")) {
        (p.dots ?? []).forEach((dots, k) => {
          c.fillStyle = tone(this.data.levels[k].valid ? "pale-blue" : "rule");
          for (const v of dots ?? []) { c.beginPath(); c.arc(x(this.data.levels[k].n), y(v), 2 * px, 0, 2 * Math.PI); c.fill(); }
        });
      }
      if (known(p.level)) {
        c.strokeStyle = tone("muted"); c.lineWidth = px; c.setLineDash([6 * px, 4 * px]);
        c.beginPath(); c.moveTo(left, y(p.level)); c.lineTo(left + width, y(p.level)); c.stroke(); c.setLineDash([]);
      }
      if (p.line?.length && !this.hidden.has("fitted line")) {
        c.strokeStyle = tone("ink"); c.lineWidth = 2 * px; c.beginPath();
        p.line.slice(1).forEach(([n, v], k) => {
          const [m, w] = p.line[k];
          for (let j = 0; j <= 60; j++) {
            const at = this.logStreams ? m * (n / m) ** (j / 60) : m + ((n - m) * j) / 60;
            c[j || k ? "lineTo" : "moveTo"](x(at), y(w + ((v - w) * (at - m)) / (n - m)));
          }
        });
        c.stroke();
      }
      c.restore();
    }

    // over draws intervals and markers, and what was found on the axis of streams.
    over(u, p, i) {
      const c = u.ctx, px = devicePixelRatio, x = (v) => u.valToPos(v, "x", true), y = (v) => u.valToPos(v, "y", true);
      const { left, top, width, height } = u.bbox;
      const log = this.log(p);
      c.save();
      c.setLineDash([]); // uPlot leaves that of the last series
      for (const s of p.series.filter((s) => !this.hidden.has(s.name))) {
        this.data.levels.forEach((l, k) => {
          const v = s.values[k], at = x(l.n), colour = tone(l.valid ? s.tone : "grey");
          c.strokeStyle = c.fillStyle = colour; c.lineWidth = 1.5 * px;
          if (!l.valid) { this.cross(c, at, known(v) && (!log || v > 0) ? y(v) : top + height, 4 * px); return; }
          if (!known(v) || (log && v <= 0)) return;
          if (known(s.lo?.[k]) && known(s.hi?.[k])) { c.beginPath(); c.moveTo(at, y(s.lo[k])); c.lineTo(at, y(s.hi[k])); c.stroke(); }
          this.marker(c, s.shape, at, y(v), 3.6 * px);
          c.fill();
          if (l.scout) { c.fillStyle = tone("paper"); this.marker(c, s.shape, at, y(v), 2.1 * px); c.fill(); }
        });
      }
      this.data.marks.forEach((m, k) => {
        const at = x(m.at);
        if (at < left || at > left + width) return;
        const label = i === 0 ? top - (5 + 15 * (this.data.marks.length - 1 - k)) * px : top;
        c.strokeStyle = c.fillStyle = tone(m.tone); c.lineWidth = 1.75 * px; c.setLineDash((m.dash ?? []).map((d) => d * px));
        if (m.point) { if (i === 0) { this.marker(c, "triangle", at, top + height - 5 * px, 5 * px); c.fill(); } }
        else { c.beginPath(); c.moveTo(at, top + height); c.lineTo(at, i === 0 ? label - 9 * px : top); c.stroke(); }
        c.setLineDash([]);
        if (i > 0) return;
        const right = at > left + width * 0.6;
        c.font = `600 ${12 * px}px ${getComputedStyle(document.body).fontFamily}`;
        c.textAlign = right ? "right" : "left"; c.textBaseline = "alphabetic";
        const w = c.measureText(m.text).width, from = at + (right ? -6 * px : 6 * px);
        c.fillStyle = tone("paper"); c.fillRect(right ? from - w : from, label - 11 * px, w, 14 * px);
        c.fillStyle = tone(m.tone); c.fillText(m.text, from, label);
      });
      c.restore();
    }

    marker(c, shape, x, y, r) {
      c.beginPath();
      if (shape === "square") c.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
      else if (shape === "triangle") { c.moveTo(x, y - r * 1.2); c.lineTo(x + r * 1.1, y + r * 0.8); c.lineTo(x - r * 1.1, y + r * 0.8); c.closePath(); }
      else c.arc(x, y, r, 0, 2 * Math.PI);
    }

    cross(c, x, y, r) {
      c.beginPath(); c.moveTo(x - r, y - r); c.lineTo(x + r, y + r); c.moveTo(x - r, y + r); c.lineTo(x + r, y - r); c.stroke();
    }

    key(event) {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], n = this.data.levels.length;
      if (!step || !n) return;
      event.preventDefault();
      this.move(this.index === null ? (step > 0 ? 0 : n - 1) : Math.min(n - 1, Math.max(0, this.index + step)));
    }

    // move puts the cursor of all panels on a level.
    move(k) {
      const u = this.plots[0];
      if (!u) return;
      u.setCursor({ left: u.valToPos(this.data.levels[k].n, "x"), top: 10 }, true);
      for (const other of this.plots.slice(1)) other.setCursor({ left: other.valToPos(this.data.levels[k].n, "x"), top: 10 }, false);
      this.index = k;
      this.say();
    }

    // say reads the level under the cursor out in words.
    say() {
      const line = this.e.querySelector(".readout"), k = this.index;
      if (k === null) { line.textContent = this.data.levels.length ? "Point at a level, or use the arrow keys, to read its figures." : "No level was measured."; return; }
      const l = this.data.levels[k], parts = [];
      for (const p of this.data.panels) {
        for (const s of p.series) {
          if (this.hidden.has(s.name) || !known(s.values[k])) continue;
          const around = known(s.lo?.[k]) && known(s.hi?.[k]) ? ` (${number(s.lo[k])}–${number(s.hi[k])})` : "";
          parts.push(`${label(p, s)} ${number(s.values[k])}${around} ${p.unit}`);
        }
      }
      line.replaceChildren(element("strong", {}, `N = ${l.n.toLocaleString("en-US")}`), (l.note ? ` (${l.note})` : "") + ": " + (parts.join(" · ") || "no figures"));
    }
  }

  root.classList.add("js");
  const open = () => {
    for (const e of document.querySelectorAll("figure.chart")) if (figures.get(e.id)?.e !== e) figures.set(e.id, new Figure(e));
  };
  open();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => figures.forEach((f) => f.draw()));
  window.kneesweep = { figures, open };
})();
