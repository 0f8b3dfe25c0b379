// Images of the data set as buttons, a dozen at a time.

import { askJson, askPicture } from "/static/api.js";
import { $, element } from "/static/dom.js";
import { readPicture } from "/static/picture.js";

const AT_ONCE = 12;
let model = null, listed = [], first = 0, choose = () => {}, asked = 0;

// Show those of a model, and choose the first one; `chosen(picture, words)` is called for each that is chosen.
export async function showSamples(of, chosen) {
  [model, choose, first] = [of, chosen, 0];
  const found = (await askJson(`/v1/models/${encodeURIComponent(of.name)}/samples`)).samples;
  if (model !== of) return 0; // another one was chosen meanwhile
  listed = found;
  $("samples-room").hidden = listed.length === 0;
  $("more-samples").hidden = listed.length <= AT_ONCE;
  const buttons = await showSome();
  buttons[0]?.click();
  return listed.length;
}

export async function showOthers() {
  first = first + AT_ONCE < listed.length ? first + AT_ONCE : 0;
  await showSome();
}

export function unpress() {
  for (const button of $("samples").children) button.setAttribute("aria-pressed", "false");
}

async function showSome() {
  const turn = ++asked;
  const buttons = await Promise.all(listed.slice(first, first + AT_ONCE).map(buttonOf));
  if (turn === asked) $("samples").replaceChildren(...buttons); // else others were asked for meanwhile
  return turn === asked ? buttons : [];
}

async function buttonOf(sample) {
  const path = `/v1/models/${encodeURIComponent(model.name)}/samples/${sample.index}`;
  const { picture } = await readPicture(await askPicture(path), model.input_shape);
  const words = `image ${sample.index} of the data set, labelled ${sample.class_name}`;
  const button = element("button", undefined, { type: "button", "aria-pressed": "false", "aria-label": words, title: words });
  const canvas = element("canvas", undefined, { "aria-hidden": "true" });
  picture.showOn(canvas);
  button.append(canvas);
  button.addEventListener("click", () => {
    choose(picture.copy(), words);
    button.setAttribute("aria-pressed", "true");
  });
  return button;
}
