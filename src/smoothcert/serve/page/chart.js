// The certified radius over votes: a step at every look, and the target.

import { roundedDown, whole } from "/static/words.js";

const EDGE = { left: 46, right: 28, top: 14, bottom: 26 };
const LEAST_VOTES = 100;

export class Chart {
  constructor(svg) {
    this.svg = svg;
    this.clear();
    new ResizeObserver(() => this.draw()).observe(svg);
  }

  clear(most = 100_000) {
    [this.looks, this.most] = [[], most];
    this.svg.setAttribute("aria-label", "Certified radius over votes: none yet");
    this.draw();
  }

  aim(target) {
    this.target = target;
    this.draw();
  }

  add(votes, radius) {
    if (votes <= this.looks.at(-1)?.[0]) return; // told again
    this.looks.push([votes, radius]);
    this.draw();
  }

  describe() {
    const last = this.looks.at(-1);
    if (last) this.svg.setAttribute("aria-label", `Certified radius over votes: ${roundedDown(last[1])} after ${whole(last[0])} votes`);
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.svg;
    if (!width) return; // not shown yet
    const top = 1.15 * Math.max(this.looks.at(-1)?.[1] ?? 0, this.target ?? 0) || 1;
    const decades = Math.log10(Math.max(this.most, 10 * LEAST_VOTES) / LEAST_VOTES);
    const x = votes => EDGE.left + Math.max(0, Math.log10(votes / LEAST_VOTES)) / decades * (width - EDGE.left - EDGE.right);
    const y = radius => height - EDGE.bottom - radius / top * (height - EDGE.top - EDGE.bottom);
    const parts = [...radiusAxis(top, width, y), ...votesAxis(decades, height, x), ...steps(this.looks, x, y)];
    if (this.target !== undefined) parts.push(...targetLine(this.target, width, y));
    this.svg.replaceChildren(...parts);
  }
}

function made(tag, attributes, text) {
  const part = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
  if (text !== undefined) part.textContent = text;
  return part;
}

function radiusAxis(top, width, y) {
  const rough = top / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map(times => times * power).find(one => one >= rough);
  const ticks = Array.from({ length: Math.floor(top / step) + 1 }, (_, tick) => tick * step);
  return ticks.flatMap(tick => [
    made("line", { class: "axis", x1: EDGE.left, x2: width - EDGE.right, y1: y(tick), y2: y(tick) }),
    made("text", { x: EDGE.left - 8, y: y(tick) + 4, "text-anchor": "end" }, String(Number(tick.toPrecision(6)))),
  ]);
}

function votesAxis(decades, height, x) {
  return Array.from({ length: Math.floor(decades) + 1 }, (_, decade) => LEAST_VOTES * 10 ** decade).map(votes =>
    made("text", { x: x(votes), y: height - 6, "text-anchor": "middle" }, whole(votes)));
}

function steps(looks, x, y) {
  if (!looks.length) return [];
  const [[votes, radius], ...more] = looks, [lastVotes, lastRadius] = looks.at(-1);
  const path = `M${x(votes)} ${y(radius)}` + more.map(look => `H${x(look[0])}V${y(look[1])}`).join("");
  return [made("path", { class: "radius", d: path }), made("circle", { class: "now", cx: x(lastVotes), cy: y(lastRadius), r: 4 })];
}

function targetLine(target, width, y) {
  return [
    made("line", { class: "target", x1: EDGE.left, x2: width - EDGE.right, y1: y(target), y2: y(target) }),
    made("text", { class: "target-name", x: EDGE.left + 4, y: y(target) - 5 }, `target ${target}`),
  ];
}
