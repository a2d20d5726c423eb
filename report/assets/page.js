"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const still = document.getElementById("still");
  const holder = document.getElementById("charts");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const axes = { n: true, output: false, latency: true };
  let charts = [];

  // Figures with three digits, thousands grouped.
  function figure(v) {
    if (v == null) return "–";
    const digits = v === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(v))));
    return Number(v.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: Math.min(digits, 6) });
  }

  // The fit is drawn at the levels, at its corner and at its ends.
  function positions() {
    const all = new Set(data.n);
    const f = data.fit;
    if (f) [f.k, f.from, f.to].forEach((x) => x != null && x >= f.from && x <= f.to && all.add(x));
    return [...all].sort((a, b) => a - b);
  }
  const xs = positions();
  const at = new Map(data.n.map((n, i) => [n, i]));
  const spread = (values, keep) => xs.map((x) => {
    const i = at.get(x);
    return i === undefined || (keep && !keep(i)) ? null : values[i];
  });
  const fit = xs.map((x) => {
    const f = data.fit;
    return f && x >= f.from && x <= f.to ? f.a + f.b * Math.min(x, f.k) : null;
  });

  const line = (label, stroke, values, more) => Object.assign({ label, stroke: () => color(stroke), width: 2, spanGaps: true, value: (_, v) => figure(v), values, points: { show: true, size: 6, fill: () => color(stroke) } }, more);

  // The knee with its interval, and the number of streams to allow.
  function marks(u) {
    const { ctx, bbox } = u;
    const px = (x) => u.valToPos(x, "x", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    if (data.knee && data.knee.lo != null && data.knee.hi != null) {
      const left = px(data.knee.lo), right = px(data.knee.hi);
      ctx.fillStyle = color("band");
      ctx.fillRect(left, bbox.top, Math.max(2, right - left), bbox.height);
    }
    const rule = (x, name, dash) => {
      if (x == null) return;
      ctx.strokeStyle = color(name);
      ctx.lineWidth = 1.5 * devicePixelRatio;
      ctx.setLineDash(dash.map((d) => d * devicePixelRatio));
      ctx.beginPath();
      ctx.moveTo(px(x), bbox.top);
      ctx.lineTo(px(x), bbox.top + bbox.height);
      ctx.stroke();
    };
    if (data.knee) rule(data.knee.value, "green", []);
    rule(data.allowed, "red", [6, 4]);
    ctx.restore();
  }

  // Error bars: the 95 % interval of each level.
  function bars(u) {
    if (!u.series[1].show) return;
    const { ctx } = u;
    ctx.save();
    ctx.strokeStyle = color("blue");
    ctx.lineWidth = devicePixelRatio;
    data.n.forEach((n, i) => {
      if (data.lo[i] == null || data.hi[i] == null || (axes.output && data.lo[i] <= 0)) return;
      const x = u.valToPos(n, "x", true), lo = u.valToPos(data.lo[i], "y", true), hi = u.valToPos(data.hi[i], "y", true), w = 4 * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(x, lo); ctx.lineTo(x, hi);
      ctx.moveTo(x - w, lo); ctx.lineTo(x + w, lo);
      ctx.moveTo(x - w, hi); ctx.lineTo(x + w, hi);
      ctx.stroke();
    });
    ctx.restore();
  }

  function options(id, title, unit, log, series, hooks, height) {
    const axis = (more) => Object.assign({
      stroke: () => color("soft"), font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 22,
      grid: { stroke: () => color("line"), width: 1 }, ticks: { stroke: () => color("line"), width: 1 },
    }, more);
    const first = data.n[0], last = data.n[data.n.length - 1];
    const margin = axes.n ? [first / 1.25, last * 1.25] : [Math.max(0, first - (last - first) * 0.04 - 0.5), last + (last - first) * 0.04 + 0.5];
    const shown = data.n.filter((n, i, all) => all.length <= 9 || axes.n || i % Math.ceil(all.length / 9) === 0);
    return {
      id, title, width: 300, height,
      scales: {
        x: { time: false, distr: axes.n ? 3 : 1, log: 2, range: () => margin },
        y: log ? { distr: 3, log: 10 } : { range: (_, lo, hi) => [0, (hi || 1) * 1.1] },
      },
      axes: [
        axis({ label: "parallel streams, N", splits: axes.n ? () => thin(shown) : undefined, values: (_, v) => v.map((x) => (x == null ? "" : figure(x))), space: 34 }),
        axis({ label: unit, size: 64, values: (_, v) => v.map((x) => (x == null ? "" : figure(x))) }),
      ],
      series: [{ label: "N", value: (_, v) => figure(v) }, ...series],
      hooks,
      cursor: { points: { size: 9 }, drag: { setScale: false } },
      legend: { live: true },
    };
  }

  // Ticks that stand apart on a logarithmic axis: the levels as far as there is room.
  let room = 300;
  function thin(levels) {
    const first = levels[0] / 1.25, span = Math.log((levels[levels.length - 1] * 1.25) / first) || 1;
    const out = [];
    let edge = -Infinity;
    for (const n of levels) {
      const p = (Math.log(n / first) / span) * room;
      if (p - edge < 26) continue;
      out.push(n);
      edge = p;
    }
    return out;
  }

  function draw() {
    charts.forEach((c) => c.destroy());
    charts = [];
    const build = (id, title, unit, log, series, hooks, height) => {
      const box = document.getElementById(id);
      if (!series.some((s) => s.values.some((v) => v != null))) { box.hidden = true; return; }
      const width = Math.max(240, box.clientWidth);
      room = width - 90;
      const o = options(id + "-u", title, unit, log, series.map(({ values, ...s }) => s), hooks, height);
      o.width = width;
      const positive = (v) => (log && v != null && v <= 0 ? null : v);
      charts.push(new uPlot(o, [xs, ...series.map((s) => s.values.map(positive))], box));
    };
    const used = (i) => data.used[i];
    build("chart-output", "Output of all streams", "tokens/s", axes.output, [
      line("median of the windows, tokens/s", "blue", spread(data.output, used), { width: 0, paths: () => null, points: { show: true, size: 9, fill: () => color("blue") } }),
      line("fit", "orange", fit, { points: { show: false } }),
      ...(data.used.every(Boolean) ? [] : [line("not used by the fit", "soft", spread(data.output, (i) => !used(i)), { width: 0, paths: () => null, points: { show: true, size: 9, fill: () => color("paper") } })]),
    ], { drawClear: [marks], draw: [bars] }, Math.min(460, Math.max(300, Math.round(innerHeight * 0.5))));
    build("chart-ttft", "Time to first token", "ms", axes.latency, [
      line("p50, ms", "blue", spread(data.ttft50)), line("p95, ms", "orange", spread(data.ttft95), { dash: [6, 3] }), line("p99, ms", "purple", spread(data.ttft99), { dash: [2, 3] }),
    ], { drawClear: [marks] }, 300);
    build("chart-itl", "Inter-token latency", "ms", axes.latency, [
      line("p50, ms", "blue", spread(data.itl50)), line("p95, ms", "orange", spread(data.itl95), { dash: [6, 3] }),
    ], { drawClear: [marks] }, 300);
  }

  const button = (id, key) => document.getElementById(id).addEventListener("click", (e) => {
    axes[key] = !axes[key];
    e.currentTarget.setAttribute("aria-pressed", String(axes[key]));
    draw();
  });
  button("log-n", "n");
  button("log-output", "output");
  button("log-latency", "latency");

  holder.hidden = false;
  still.hidden = true;
  draw();
  let width = holder.clientWidth;
  addEventListener("resize", () => {
    if (holder.clientWidth !== width) { width = holder.clientWidth; draw(); }
  });
  dark.addEventListener("change", draw);
})();
