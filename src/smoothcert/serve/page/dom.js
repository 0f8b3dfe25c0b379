// Elements by id and made anew. Texts of others only ever become text.

export const $ = id => document.getElementById(id);

export function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
