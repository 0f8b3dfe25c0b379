// The page: which model, which image, and whom to tell when they change.

import { askJson, hasKey, useKey } from "/static/api.js";
import { Certifying } from "/static/certifying.js";
import { makeDrawable } from "/static/draw.js";
import { $, element } from "/static/dom.js";
import { forgetNoisy, showNoisy } from "/static/noisy.js";
import { isPicture, Picture, readPicture, readsFaithfully } from "/static/picture.js";
import { showOthers, showSamples, unpress } from "/static/samples.js";
import { noiseInWords, radiusUnit, whole } from "/static/words.js";

let models = [], limits = {}, model = null, picture = null, words = "";

const certifying = new Certifying(() => [model, picture], tell);

function tell(error) {
  const closed = error?.code === "unauthorized", text = closed ? refusal() : error?.message ?? "";
  $("trouble").hidden = text === "";
  $("trouble").textContent = text;
  if (closed) askForKey();
}

// A service that asks for a key has refused nothing yet.
function refusal() {
  return hasKey() ? "The service does not take this key." : "";
}

function guarded(work) {
  return async (...given) => {
    try {
      await work(...given);
    } catch (error) {
      tell(error);
    }
  };
}

function askForKey() {
  $("key-form").hidden = false;
  $("key").focus();
}

function take(next, told) {
  [picture, words] = [next, told];
  $("image-told").textContent = told;
  unpress();
  tell(null);
  picture.showOn($("canvas"));
  certifying.reset();
  showNoisy(model, picture);
}

function drawn(done) {
  const told = words.endsWith("drawn on") || words === "a drawing" ? words : `${words}, drawn on`;
  picture.showOn($("canvas"));
  if (done) take(picture, told);
}

function startDrawing() {
  take(new Picture(model.input_shape), "a drawing");
}

async function upload() {
  const [file] = $("file").files;
  if (!file) return;
  let read;
  try {
    read = await readPicture(file, model.input_shape);
  } catch {
    throw new Error(`${file.name} is no picture that this browser reads; take a PNG or JPEG.`);
  }
  const changes = read.changes.length ? ` (${read.changes.join(" and ")} by this page: the certificate is about what is shown)` : "";
  take(read.picture, `${file.name}${changes}`);
}

function describe() {
  const shape = model.input_shape.join(" × ");
  $("model-told").textContent =
    `Images ${shape}, ${whole(model.num_classes)} classes; noise: ${noiseInWords(model.noise)}; radii in ${radiusUnit(model.norm)}; engine ${model.engine}.`;
  $("votes-most").max = limits.votes;
  $("votes-most").placeholder = `≤ ${whole(limits.votes)}`;
}

async function chooseModel() {
  const mine = model = models.find(one => one.name === $("model").value);
  picture = null;
  tell(null);
  describe();
  certifying.reset();
  const shows = isPicture(model.input_shape), grey = shows && model.input_shape[0] === 1;
  $("pictures").hidden = !shows;
  if (!shows) throw new Error("This model takes no pictures; ask it through the API.");
  setDrawable(grey);
  forgetNoisy();
  const samples = await showSamples(model, take);
  if (samples || model !== mine) return;
  if (grey) startDrawing();
  else {
    new Picture(model.input_shape).showOn($("canvas"));
    $("image-told").textContent = "none yet: choose a picture of your own";
  }
}

// A canvas that is drawn on takes keys; others are pictures.
function setDrawable(grey) {
  const canvas = $("canvas");
  canvas.classList.toggle("drawable", grey);
  $("pen").hidden = !grey;
  canvas.setAttribute("role", grey ? "application" : "img");
  if (grey) canvas.tabIndex = 0;
  else canvas.removeAttribute("tabindex");
  if (grey) canvas.setAttribute("aria-describedby", "pen-hint");
  else canvas.removeAttribute("aria-describedby");
}

async function open() {
  ({ models, limits } = await askJson("/v1/models"));
  tell(null);
  $("key-form").hidden = true;
  $("work").hidden = false;
  $("model-choice").hidden = models.length < 2;
  $("model").replaceChildren(...models.map(one => element("option", one.name, { value: one.name })));
  if (!readsFaithfully()) {
    throw new Error("This browser changes what pages read from pictures, so the page cannot send what it shows; allow it to read canvases here.");
  }
  await chooseModel();
}

const start = guarded(open), erases = () => document.querySelector("input[name=pen]:checked").value === "erase";
makeDrawable($("canvas"), $("cursor"), text => { $("pen-place").textContent = text; }, { picture: () => picture, erases, changed: drawn });
$("key-form").addEventListener("submit", event => {
  event.preventDefault();
  useKey($("key").value.trim());
  $("key").value = "";
  start();
});
$("model").addEventListener("change", guarded(chooseModel));
$("more-samples").addEventListener("click", guarded(showOthers));
$("file").addEventListener("change", guarded(upload));
$("clear").addEventListener("click", startDrawing);
$("more-noise").addEventListener("click", () => { if (picture) showNoisy(model, picture); });
await start();
document.documentElement.dataset.ready = "yes";
