// Votes by class: all of few classes in their order, the first of many.

import { $, element } from "/static/dom.js";
import { whole } from "/static/words.js";

const MOST_ROWS = 12;

export function showVotes(names, votes, leading) {
  const drawn = votes.reduce((sum, count) => sum + count, 0), places = [...votes.keys()];
  const many = places.length > MOST_ROWS;
  if (many) places.sort((a, b) => votes[b] - votes[a] || a - b).splice(MOST_ROWS - 1);
  const rows = places.map(place => rowOf(names[place], votes[place], drawn, place === leading));
  if (many) {
    const rest = drawn - places.reduce((sum, place) => sum + votes[place], 0);
    rows.push(rowOf(`${whole(votes.length - places.length)} other classes`, rest, drawn, false));
  }
  $("votes").tBodies[0].replaceChildren(...rows);
}

function rowOf(name, count, drawn, leads) {
  const row = element("tr"), head = element("th", undefined, { scope: "row" }), bar = element("i");
  const share = drawn ? count / drawn : 0;
  bar.style.width = `${100 * share}%`;
  head.append(element("span", name), bar);
  row.classList.toggle("leading", leads);
  row.append(head, element("td", whole(count)), element("td", drawn ? `${(100 * share).toFixed(1)}%` : "–"));
  return row;
}
