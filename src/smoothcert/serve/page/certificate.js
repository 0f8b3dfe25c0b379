// What is shown of a certificate, while it grows and in the end. Only what matters is said aloud.

import { $, element } from "/static/dom.js";
import { noiseInWords, radiusUnit, roundedDown, whole } from "/static/words.js";

export function say(text) {
  $("said").textContent = text;
}

export function showNothing() {
  $("answer").textContent = "No votes yet.";
  $("sentence").textContent = "";
  $("facts").replaceChildren();
}

export function showBegun(begun) {
  $("answer").textContent = "Votes are being drawn.";
  $("sentence").textContent = begun.repeated ? "This was asked before: its votes are continued, or its certificate is given again." : "";
  say($("answer").textContent);
}

// What is proven by now, and true already.
export function showLook(look, begun) {
  $("answer").textContent = inShort(look, "so far");
  showFacts([["votes", `${whole(look.samples)} of at most ${whole(begun.most_samples)}`], ...bound(look, begun)]);
}

export function showEnd(certificate, target) {
  $("answer").textContent = inShort(certificate, "");
  $("sentence").textContent = `${certificate.sentence}. ${remark(certificate, target)}`.trim();
  showFacts([
    ["votes", whole(certificate.samples)],
    ...bound(certificate, certificate),
    ["noise", noiseInWords(certificate.noise)],
    ["engine", certificate.engine],
    ["certificate", certificate.certificate],
  ]);
  say(`${$("answer").textContent} ${$("sentence").textContent}`);
}

export function saveCertificate(certificate) {
  const content = new Blob([JSON.stringify(certificate, null, 2) + "\n"], { type: "application/json" });
  const link = element("a", undefined, { href: URL.createObjectURL(content), download: `certificate-${certificate.certificate}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function inShort(proven, when) {
  const now = when && ` ${when}`;
  return proven.class === null ? `No class is certified${now}.` : `${proven.class_name}: radius ${roundedDown(proven.radius)}${now}`;
}

function remark(certificate, target) {
  if (target !== undefined && certificate.class !== null && certificate.radius >= target) return `The target radius ${target} is proven.`;
  const missed = target === undefined ? "" : `The target radius ${target} is not proven. `;
  return missed + (certificate.status === "finished" ? "" : "It was stopped early: ask again, and it continues.");
}

function bound(proven, terms) {
  return [
    ["probability of the class", `at least ${roundedDown(proven.p_lower, 5)} under noise`],
    ["radius in", radiusUnit(terms.norm)],
    ["false with probability", `at most ${terms.alpha}`],
  ];
}

function showFacts(facts) {
  $("facts").replaceChildren(...facts.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
}
