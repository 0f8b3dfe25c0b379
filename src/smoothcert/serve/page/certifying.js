// Certify, stop, download: one question at a time, and the target that ends it.

import { Chart } from "/static/chart.js";
import { say, saveCertificate, showBegun, showEnd, showLook, showNothing } from "/static/certificate.js";
import { $ } from "/static/dom.js";
import { AskedQuestion } from "/static/question.js";
import { showVotes } from "/static/votes.js";

export class Certifying {
  // `asked()` is [model, picture], with null for no picture; `failed(error)` tells the user.
  constructor(asked, failed) {
    [this.asked, this.failed] = [asked, failed];
    this.chart = new Chart($("chart"));
    [this.running, this.begun, this.last, this.certificate] = [null, null, null, null];
    $("terms").addEventListener("submit", event => { event.preventDefault(); this.start(); });
    $("stop").addEventListener("click", () => this.running?.leave());
    $("download").addEventListener("click", () => saveCertificate(this.certificate));
    $("target").addEventListener("input", () => this.aim());
    for (const id of ["alpha", "votes-most"]) $(id).addEventListener("input", () => this.offer("Certify"));
  }

  get target() {
    const value = $("target").valueAsNumber;
    return value > 0 ? value : undefined;
  }

  // Forget what was shown: the image or the model is another one.
  reset() {
    const left = this.running;
    this.running = null;
    left?.leave();
    this.last = this.certificate = this.begun = null;
    this.clear(this.asked()[0]);
    this.offer("Certify");
  }

  clear(model, most) {
    showNothing();
    showVotes(model.class_names, new Array(model.num_classes).fill(0), null);
    this.chart.clear(most);
  }

  async start() {
    const [model, picture] = this.asked();
    if (this.running) return;
    if (!picture) return this.failed(new Error("Choose an image first."));
    this.last = this.certificate = null;
    this.failed(null);
    const mine = this.running = new AskedQuestion(terms(model, picture), {
      begun: begun => { if (this.running === mine) this.begin(begun, model); },
      looked: look => { if (this.running === mine) this.look(look, model); },
    });
    this.offer("Certify");
    try {
      const certificate = await mine.answer();
      if (this.running === mine) this.end(certificate, model);
    } catch (error) {
      if (this.running === mine) this.giveUp(error);
    }
  }

  begin(begun, model) {
    if (begun.certificate !== this.begun?.certificate) this.clear(model, begun.most_samples); // else it goes on
    this.begun = begun;
    showBegun(begun);
  }

  look(look, model) {
    if (this.last?.class == null && look.class !== null) say(`${look.class_name} is certified; the radius grows.`);
    this.last = look;
    this.chart.add(look.samples, look.radius);
    showVotes(model.class_names, look.votes, look.class);
    showLook(look, this.begun);
    this.aim();
  }

  // Who stops because a radius is reached may do so: the bound holds at all looks at once.
  aim() {
    this.chart.aim(this.target);
    const proven = this.last !== null && this.last.class !== null && this.last.radius >= this.target;
    if (this.running && proven) this.running.leave();
  }

  end(certificate, model) {
    this.running = null;
    this.certificate = certificate;
    if (certificate === null) {
      showNothing();
      say("Stopped before any look; nothing is certified.");
      $("sentence").textContent = $("said").textContent;
    } else {
      const votes = certificate.votes.estimate ?? certificate.votes.select ?? [];
      if (certificate.samples !== this.last?.samples) this.chart.add(certificate.samples, certificate.radius);
      showVotes(model.class_names, votes, certificate.class);
      showEnd(certificate, this.target);
      this.chart.describe();
    }
    this.offer(certificate !== null && certificate.status !== "finished" ? "Continue" : "Certify");
  }

  giveUp(error) {
    this.reset(); // a model may have failed a check: then what was shown is not proven
    this.failed(error);
  }

  // Set which buttons can be pressed; the focus moves on from one that no longer can.
  offer(label) {
    const had = document.activeElement, running = this.running !== null;
    $("certify").textContent = label;
    $("certify").disabled = running;
    $("stop").disabled = !running;
    $("download").disabled = this.certificate === null;
    if (had === $("certify") && running) $("stop").focus();
    if (had === $("stop") && !running) (this.certificate ? $("download") : $("certify")).focus();
    if (had === $("download") && this.certificate === null) $("certify").focus();
  }
}

function terms(model, picture) {
  const body = { model: model.name, image: picture.nested() };
  for (const [field, id] of [["alpha", "alpha"], ["n", "votes-most"]]) {
    const value = $(id).valueAsNumber;
    if (!Number.isNaN(value)) body[field] = value;
  }
  return body;
}
