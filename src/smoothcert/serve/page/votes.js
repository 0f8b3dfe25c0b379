// Votes by class: all of few classes in their order, the first of many.

import { $, element } from "/static/dom.js";
import { roundedDown, whole } from "/static/words.js";

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
  const row = element("tr"), percent = drawn ? 100 * count / drawn : 0;
  const cell = element("td"), share = element("div"), track = element("div"), bar = element("i");
  bar.style.width = `${percent}%`;
  track.append(bar);
  share.append(track, element("span", drawn ? `${roundedDown(percent, 1)}%` : "–"));
  cell.append(share);
  row.classList.toggle("leading", leads);
  row.append(element("th", name, { scope: "row" }), element("td", whole(count)), cell);
  return row;
}
