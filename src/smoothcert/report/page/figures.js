// The figures of the page. What is claimed (certified accuracy, intervals) comes rounded from the program; what is
// drawn here from single images describes them and proves nothing.
"use strict";

const SHARES = [0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
const MOST_POINTS = 3000;   // beyond, a scatter is drawn as a density
const MOST_CLASSES = 30;    // beyond, a table of classes has no room
const DASHES = ["8px,3px", "8px,3px,2px,3px", "2px,2px", "13px,4px", "4px,2px", "13px,3px,3px,3px", "5px,3px,1px,2px"];

function variable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Plotly reads a few tags, entities, formulas and places for values in texts: what others wrote is shown as it is.
function plain(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\$/g, "&#36;").replace(/%/g, "&#37;");
}

function short(text, most = 40) {
  return text.length <= most ? text : "…" + text.slice(1 - most);
}

function colourOf(place, count) {
  return place === count - 1 ? variable("--strong") : variable("--c" + (place % 7));
}

function lineOf(place, count) {
  const last = place === count - 1;
  return { color: colourOf(place, count), width: last ? 2.6 : 1.8, dash: last ? "solid" : DASHES[place % 7] };
}

function washed(colour, alpha) {
  const parts = colour.match(/^#(..)(..)(..)$/);
  return parts ? `rgba(${parts.slice(1).map(part => parseInt(part, 16)).join(",")},${alpha})` : colour;
}

function layoutOf(x, y, more = {}) {
  const axis = title => ({
    title: { text: title, font: { size: 12 } }, gridcolor: variable("--faint"), zerolinecolor: variable("--faint"),
    linecolor: variable("--soft"), showline: true, fixedrange: false, automargin: true,
  });
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false,
    font: { color: variable("--ink"), family: "system-ui, sans-serif", size: 12 },
    margin: { l: 52, r: 12, t: 8, b: 44 }, hovermode: "closest", dragmode: false,
    hoverlabel: { bgcolor: variable("--card"), bordercolor: variable("--soft"), font: { color: variable("--ink") }, namelength: -1 },
    ...more, xaxis: { ...axis(x), ...(more.xaxis || {}) }, yaxis: { ...axis(y), ...(more.yaxis || {}) },
  };
}

function plot(id, traces, layout, none = "no image matches") {
  if (!traces.some(trace => (trace.x || []).length)) {
    layout.annotations = [{ text: none, showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0.5, font: { size: 14 } }];
    for (const axis of [layout.xaxis, layout.yaxis]) { axis.showticklabels = false; axis.showgrid = false; axis.zeroline = false; }
  }
  const config = { responsive: true, displaylogo: false, displayModeBar: false, scrollZoom: false };
  return Plotly.react(id, traces, layout, config);
}

// Probit, after Acklam: for the place of a tick and a curve on the axis only.
function probit(p) {
  const a = [-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716, 2.506628277459239];
  const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572];
  const c = [-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783];
  const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];
  const tail = q => (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) / ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  if (p < 0.02425) return tail(Math.sqrt(-2 * Math.log(p)));
  if (p > 1 - 0.02425) return -tail(Math.sqrt(-2 * Math.log(1 - p)));
  const q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q / (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

// A falling or rising curve over sorted values in at most so many steps.
function steps(sorted, height) {
  const every = Math.max(1, Math.ceil(sorted.length / 500)), x = [], y = [];
  for (let place = 0; place < sorted.length; place += every) {
    const last = Math.min(place + every, sorted.length) - 1;
    if (x[x.length - 1] === sorted[last]) y.pop(); else x.push(sorted[last]);  // of equal values the last counts
    y.push(height((last + 1) / sorted.length));
  }
  return [x, y];
}

function drawAccuracy(data, shown) {
  const traces = [], count = data.runs.length, bands = shown.length <= 3 ? shown : shown.slice(-1);
  for (const place of bands) {
    const curve = data.runs[place].curve, fill = washed(colourOf(place, count), 0.14);
    const edge = { x: curve.radii, mode: "lines", line: { width: 0, shape: "vh" }, hoverinfo: "skip" };
    traces.push({ ...edge, y: curve.low }, { ...edge, y: curve.high, fill: "tonexty", fillcolor: fill });
  }
  for (const place of shown) {
    const run = data.runs[place], curve = run.curve, line = lineOf(place, count);
    traces.push({
      x: curve.radii, y: curve.shares, mode: "lines", line: { ...line, shape: "vh" }, hoverinfo: "skip",
    });
    // Values are read at radii that all runs share: at a step of one curve another one may not be known.
    traces.push({
      x: data.hovered, y: run.hover.heights, customdata: run.hover.texts, mode: "markers", name: plain(short(run.name)),
      marker: { color: line.color, opacity: 0 }, hovertemplate: "%{customdata}",
    });
    const marks = { mode: "markers", hoverinfo: "skip", marker: { color: line.color, size: 7 } };
    if (curve.asked.length) traces.push({ ...marks, x: curve.asked, y: curve.askedShares });
    if (curve.ends) {
      const end = curve.radii.length - 1;
      traces.push({ ...marks, x: [curve.radii[end]], y: [curve.shares[end]],
        marker: { color: line.color, symbol: "line-ns-open", size: 14, line: { width: 2.5 } } });
    }
  }
  const attack = data.attack;
  if (attack && shown.includes(count - 1)) {
    const ink = variable("--ink");
    traces.push({ x: attack.radii, y: attack.shares, mode: "lines", hoverinfo: "skip",
      line: { color: ink, dash: "dot", shape: "hv", width: 1.8 } });
    traces.push({ x: data.hovered, y: attack.hovered, mode: "markers", name: plain(`under ${attack.method}, at most`),
      marker: { color: ink, opacity: 0 }, hovertemplate: "%{y:.2f}%" });
    traces.push({ x: attack.asked, y: attack.askedShares, mode: "markers", hoverinfo: "skip",
      marker: { color: ink, symbol: "triangle-down", size: 8 } });
  }
  return plot("accuracy", traces, layoutOf(data.radiusAxis, attack ? "accuracy (%)" : "certified accuracy (%)", {
    hovermode: "x unified", hoverdistance: -1, xaxis: { rangemode: "tozero", hoverformat: ".6~g" }, yaxis: { range: [0, 102] },
  }), "no run is shown");
}

function drawShares(data, picked) {
  const traces = [], count = data.runs.length;
  let low = 0.5, high = 0.99;
  for (const { columns, places } of picked) for (const i of columns.share ? places : []) {
    if (columns.share[i] < 1) { low = Math.min(low, columns.share[i]); high = Math.max(high, columns.share[i]); }
  }
  const left = probit(Math.max(low, 1e-6)) - 0.1, right = probit(Math.min(high, 1 - 1e-7)) + 0.45;
  for (const { place, run, columns, places } of picked) {
    if (!columns.share || !places.length) continue;
    const sorted = places.map(i => columns.share[i]).sort((a, b) => a - b);
    const [x, y] = steps(sorted, share => 100 * share);
    traces.push({ x: [left, ...x.map(p => p < 1 ? probit(Math.max(p, 1e-6)) : right)], y: [0, ...y], mode: "lines",
      line: { ...lineOf(place, count), shape: "hv" }, name: plain(short(run.name)), customdata: [0, ...x],
      hovertemplate: "%{y:.1f}% at most %{customdata:.5f}" });
  }
  const ticks = SHARES.filter(p => probit(p) > left && probit(p) < right - 0.3);
  return plot("share", traces, layoutOf("share of votes for the leading class, p_A (probit axis)", "images (%)", {
    xaxis: { range: [left, right + 0.1], tickvals: [...ticks.map(probit), right], ticktext: [...ticks.map(String), "1"] },
    yaxis: { range: [0, 102] },
  }));
}

function drawVotes(data, picked) {
  const traces = [], count = data.runs.length;
  let least = Infinity, most = 1;
  for (const { place, run, columns, places } of picked) {
    if (!columns.votes || !places.length) continue;
    for (const i of places) { least = Math.min(least, columns.votes[i]); most = Math.max(most, columns.votes[i]); }
    const [x, y] = steps(places.map(i => columns.votes[i]).sort((a, b) => a - b), share => 100 * (1 - share));
    traces.push({ x: [1, ...x], y: [100, ...y], mode: "lines", name: plain(short(run.name)),
      line: { ...lineOf(place, count), shape: "hv" }, hovertemplate: "%{y:.1f}% more than %{x:,}" });
  }
  return plot("votes", traces, layoutOf("votes (log axis)", "images that needed more (%)", {
    xaxis: { type: "log", tickformat: ",", dtick: most > 300 * least ? 1 : "D2",
      range: [Math.log10(Math.max(Math.min(least / 2, most / 30), 1)), Math.log10(most * 1.25)] },
    yaxis: { range: [0, 102] },
  }));
}

// Names as marks of an axis of numbers: two that look alike stay two.
function named(names, most = 14) {
  return { tickvals: names.map((_, place) => place), ticktext: names.map(name => plain(short(name, most))) };
}

function endOf(columns, i) {
  return columns.predicted[i] < 0 ? "abstained" : columns.predicted[i] === columns.label[i] ? "right" : "wrong";
}

const ENDS = { right: "true class", wrong: "another class", abstained: "abstained" };

function drawSpent(data, picked) {
  const known = picked.filter(one => one.columns.votes && one.places.length);
  const colours = { right: variable("--c1"), wrong: variable("--strong"), abstained: variable("--c5") };
  const traces = Object.keys(ENDS).map(end => ({
    type: "bar", orientation: "h", name: ENDS[end], marker: { color: colours[end] }, x: [], y: [], text: [], textposition: "inside",
    hovertemplate: "%{x:.1f}% of the votes on %{text}<extra></extra>", texttemplate: "%{x:.1f}%", insidetextanchor: "middle",
  }));
  known.forEach(({ columns, places }, number) => {
    const votes = { right: 0, wrong: 0, abstained: 0 }, images = { right: 0, wrong: 0, abstained: 0 };
    for (const i of places) { votes[endOf(columns, i)] += columns.votes[i]; images[endOf(columns, i)] += 1; }
    const all = votes.right + votes.wrong + votes.abstained;
    Object.keys(ENDS).forEach((end, row) => {
      traces[row].x.push(100 * votes[end] / all);
      traces[row].y.push(number);
      traces[row].text.push(`${images[end].toLocaleString("en")} images (${ENDS[end]})`);
    });
  });
  return plot("spent", traces, layoutOf("votes (%)", "", {
    barmode: "stack", showlegend: true, legend: { orientation: "h", y: -0.22, traceorder: "normal" },
    xaxis: { range: [0, 100] }, yaxis: { autorange: "reversed", ...named(known.map(one => one.run.name), 18) },
  }));
}

function proven(columns, i) {
  return endOf(columns, i) === "right" ? columns.radius[i] : 0;
}

function quantile(sorted, share) {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];  // of two in the middle the smaller
}

function className(data, number) {
  return number < data.classNames.length ? data.classNames[number] : String(number);
}

function drawClasses(data, picked) {
  const traces = [], count = data.runs.length;
  const all = [...new Set(picked.flatMap(({ columns, places }) => places.map(i => columns.label[i])))].sort((a, b) => a - b);
  for (const { place, run, columns, places } of picked) {
    const by = new Map();
    for (const i of places) {
      if (!by.has(columns.label[i])) by.set(columns.label[i], []);
      by.get(columns.label[i]).push(proven(columns, i));
    }
    const labels = [...by.keys()].sort((a, b) => a - b), lists = labels.map(label => by.get(label).sort((a, b) => a - b));
    const at = share => lists.map(list => quantile(list, share));
    traces.push({ type: "box", name: plain(short(run.name)), x: labels.map(label => all.indexOf(label)),
      q1: at(0.25), median: at(0.5), q3: at(0.75), lowerfence: at(0), upperfence: at(1), line: { width: 1.4 },
      marker: { color: colourOf(place, count) } });
  }
  return plot("classes", traces, layoutOf("true class", "certified radius", {
    boxmode: "group", xaxis: named(all.map(label => className(data, label))), yaxis: { rangemode: "tozero" },
  }));
}

function drawScatter(data, x, y, matches) {
  const across = data.runs[x], up = data.runs[y], where = new Map(up.images.index.map((index, i) => [index, i]));
  const points = [];
  across.images.index.forEach((index, i) => {
    const j = where.get(index);
    if (j !== undefined && matches(index)) points.push([proven(across.images, i), proven(up.images, j), index, across.images.label[i]]);
  });
  const most = Math.max(0.01, ...[0, 1].map(k => points.reduce((top, point) => Math.max(top, point[k]), 0))) * 1.05;
  const diagonal = { x: [0, most], y: [0, most], mode: "lines", hoverinfo: "skip", line: { color: variable("--soft"), width: 1, dash: "dot" } };
  const traces = [diagonal];
  if (points.length > MOST_POINTS) {
    const cells = 60, z = Array.from({ length: cells }, () => new Array(cells).fill(0));
    for (const [a, b] of points) z[Math.min(cells - 1, Math.floor(b / most * cells))][Math.min(cells - 1, Math.floor(a / most * cells))] += 1;
    const places = Array.from({ length: cells }, (_, k) => (k + 0.5) * most / cells);
    traces.unshift({ type: "heatmap", x: places, y: places, z: z.map(row => row.map(n => n ? Math.log10(n) : null)),
      customdata: z, hovertemplate: "%{customdata} images<extra></extra>", showscale: false,
      colorscale: [[0, washed(variable("--strong"), 0.15)], [1, variable("--strong")]] });
  } else {
    traces.push({ x: points.map(p => p[0]), y: points.map(p => p[1]), mode: "markers", marker: { color: variable("--strong"), size: 5, opacity: 0.55 },
      text: points.map(p => plain(`image ${p[2]}: ${className(data, p[3])}`)), hovertemplate: "%{text}<br>%{x:.5f}, %{y:.5f}<extra></extra>" });
  }
  const higher = points.filter(p => p[1] > p[0]).length, lower = points.filter(p => p[1] < p[0]).length;
  document.getElementById("scatter-note").textContent = `${points.length.toLocaleString("en")} images in both: ` +
    `${higher.toLocaleString("en")} above the line, ${lower.toLocaleString("en")} below.`;
  return plot("scatter", traces, layoutOf(plain(short(across.name, 30)), plain(short(up.name, 30)), {
    xaxis: { range: [0, most] }, yaxis: { range: [0, most] },
  }));
}

function drawConfusion(data, { columns, places }) {
  const labels = [...new Set([...places.map(i => columns.label[i]), ...places.map(i => columns.predicted[i]).filter(p => p >= 0)])].sort((a, b) => a - b);
  const note = document.getElementById("confusion-note"), home = document.getElementById("confusion");
  const pairs = new Map();
  for (const i of places) { const key = columns.label[i] + "," + columns.predicted[i]; pairs.set(key, (pairs.get(key) || 0) + 1); }
  home.hidden = labels.length > MOST_CLASSES;
  if (home.hidden) {
    const wrong = [...pairs].map(([key, n]) => [...key.split(",").map(Number), n]).filter(([label, said]) => said >= 0 && said !== label);
    wrong.sort((a, b) => b[2] - a[2]);
    note.textContent = `Too many classes for a table; the most frequent: ` + (wrong.slice(0, 10).map(([label, said, n]) =>
      `${className(data, label)} as ${className(data, said)} (${n})`).join(", ") || "none is certified as another class") + ".";
    return Promise.resolve();
  }
  const names = labels.map(label => className(data, label)), answers = [...labels, -1], titles = [...names, "(none)"];
  const z = labels.map(label => answers.map(said => pairs.get(label + "," + said) || 0));
  note.textContent = "";
  return plot("confusion", [{ type: "heatmap", x: answers.map((_, k) => k), y: labels.map((_, k) => k), z: z.map(row => row.map(n => n ? Math.log10(n + 1) : null)),
    text: z.map(row => row.map(n => n || "")), textfont: { color: variable("--ink") }, texttemplate: labels.length <= 12 ? "%{text}" : "", showscale: false,
    customdata: z.map((row, k) => row.map((n, l) => plain(`${names[k]} answered ${titles[l]}: ${n} images`))),
    hovertemplate: "%{customdata}<extra></extra>", xgap: 1, ygap: 1,
    colorscale: [[0, washed(variable("--strong"), 0.12)], [1, washed(variable("--strong"), 0.85)]] }],
  layoutOf("certified answer", "true class", {
    xaxis: { ...named(titles), showgrid: false, zeroline: false },
    yaxis: { ...named(names), autorange: "reversed", showgrid: false, zeroline: false },
  }));
}

function drawGaps(data, shown) {
  const count = data.runs.length, traces = data.gaps.filter(one => shown.includes(one.run)).map(one => ({
    mode: "lines", x: one.shares.map((_, i) => (one.edges[i] + one.edges[i + 1]) / 2), y: one.shares.map(share => 100 * share),
    line: { ...lineOf(one.run, count), shape: "hvh" }, fill: "tozeroy", fillcolor: washed(colourOf(one.run, count), 0.08),
    name: plain(short(data.runs[one.run].name)), hovertemplate: "gap about %{x:.2f}: %{y:.2f}% of the noisy copies",
  }));
  return plot("gaps", traces, layoutOf("log-probability gap of the true class", "noisy copies (%)", {
    shapes: [{ type: "line", x0: 0, x1: 0, y0: 0, y1: 1, yref: "paper", line: { color: variable("--ink"), dash: "dash", width: 1 } }],
  }));
}
