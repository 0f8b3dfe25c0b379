// Noisy copies of the image, to look at. No vote has their noise.

import { askPicture } from "/static/api.js";
import { $, element } from "/static/dom.js";
import { noiseInWords } from "/static/words.js";

const COPIES = 6;
let asking = null;

export async function showNoisy(model, picture) {
  asking?.abort();
  const mine = asking = new AbortController();
  const body = { model: model.name, image: picture.nested(), copies: COPIES };
  try {
    const strip = await createImageBitmap(await askPicture("/v1/noisy", { body, signal: mine.signal }));
    if (mine.signal.aborted) return;
    $("noisy").replaceChildren(...Array.from({ length: COPIES }, (_, copy) => cut(strip, copy, picture)));
    $("noisy-told").textContent = `Noise: ${noiseInWords(model.noise)}; brighter than white and darker than black are cut off here, not for the network.`;
  } catch (error) {
    if (!mine.signal.aborted) $("noisy-told").textContent = `No noisy copies: ${error.message}`;
  }
}

export function forgetNoisy() {
  asking?.abort();
  $("noisy").replaceChildren();
  $("noisy-told").textContent = "";
}

function cut(strip, copy, { width, height }) {
  const canvas = element("canvas", undefined, { width, height });
  canvas.getContext("2d").drawImage(strip, copy * width, 0, width, height, 0, 0, width, height);
  return canvas;
}
