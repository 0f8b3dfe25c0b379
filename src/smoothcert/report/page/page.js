// What can be chosen on the page: which runs, which images, in which order. Figures are drawn when they come into view.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = id => document.getElementById(id);
  const count = data.runs.length, on = data.runs.map(() => true), ROWS = 20;
  const fresh = new Set(), visible = new Set();
  let rows = ROWS;

  const shown = () => data.runs.map((_, place) => place).filter(place => on[place]);
  const chosen = () => Number($("filter-run").value);

  function element(tag, text, attributes = {}) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  // Places of the images of a run that match; "end" is that of the run chosen in the filter.
  function matching() {
    const wanted = $("filter-class").value, end = $("filter-end").value, columns = data.runs[chosen()].images;
    if (!wanted && !end) return null;
    const found = new Set();
    columns.index.forEach((index, i) => {
      if ((!wanted || columns.label[i] === Number(wanted)) && (!end || endOf(columns, i) === end)) found.add(index);
    });
    return found;
  }

  let found = null;

  function picked(places) {
    return places.map(place => {
      const run = data.runs[place], columns = run.images, all = [...columns.index.keys()];
      return { place, run, columns, places: found === null ? all : all.filter(i => found.has(columns.index[i])) };
    });
  }

  const figures = {
    accuracy: () => drawAccuracy(data, shown()),
    share: () => drawShares(data, picked(shown())),
    votes: () => drawVotes(data, picked(shown())),
    spent: () => drawSpent(data, picked(shown())),
    classes: () => drawClasses(data, picked(shown())),
    scatter: () => drawScatter(data, Number($("scatter-x").value), Number($("scatter-y").value), index => found === null || found.has(index)),
    confusion: () => drawConfusion(data, picked([chosen()])[0]),
    gaps: () => drawGaps(data, shown()),
  };

  function draw(names) {
    for (const name of names) fresh.delete(name);
    for (const name of visible) if (!fresh.has(name) && figures[name]) { fresh.add(name); figures[name](); }
  }

  function list() {
    const run = data.runs[chosen()], columns = run.images, order = $("list-order").value;
    const places = picked([chosen()])[0].places.slice();
    const by = { hard: i => columns.radius[i], easy: i => -columns.radius[i], votes: i => -(columns.votes ? columns.votes[i] : 0) }[order];
    if (by) places.sort((a, b) => by(a) - by(b) || a - b);
    $("list").replaceChildren(...places.slice(0, rows).map(i => {
      const row = element("tr"), said = columns.predicted[i];
      row.append(element("th", columns.index[i], { scope: "row" }));
      const end = said >= 0 ? "certified" : columns.outcome ? data.outcomes[columns.outcome[i]] : "abstained";
      const cells = [className(data, columns.label[i]), said < 0 ? "–" : className(data, said), columns.radius[i].toFixed(5),
        columns.share ? columns.share[i].toFixed(5) : "", columns.votes ? columns.votes[i].toLocaleString("en") : "",
        end + (endOf(columns, i) === "wrong" ? ", not its label" : "")];
      row.append(...cells.map(cell => element("td", cell)));
      return row;
    }));
    $("list-caption").textContent = `${run.name}: ${Math.min(rows, places.length).toLocaleString("en")} of ${places.length.toLocaleString("en")} matching images`;
    $("list-more").hidden = places.length <= rows;
  }

  function filtered() {
    found = matching();
    rows = ROWS;
    const all = data.runs[chosen()].images.index.length;
    $("matching").textContent = found === null ? `all ${all.toLocaleString("en")} images` : `${found.size.toLocaleString("en")} of ${all.toLocaleString("en")} images`;
    const wanted = $("filter-class").value, end = $("filter-end").value;
    for (const card of document.querySelectorAll(".card")) {
      const columns = { label: [Number(card.dataset.label)], predicted: [Number(card.dataset.predicted)] };
      card.hidden = (wanted && columns.label[0] !== Number(wanted)) || (end && endOf(columns, 0) !== end);
    }
    for (const group of document.querySelectorAll(".gallery section")) {
      group.hidden = [...group.querySelectorAll(".card")].every(card => card.hidden);
    }
    draw(Object.keys(figures).filter(name => name !== "accuracy" && name !== "gaps"));
    list();
  }

  function toggled() {
    for (const row of document.querySelectorAll("tr[data-run]")) row.hidden = !on[Number(row.dataset.run)];
    draw(Object.keys(figures));
  }

  function recolour() {
    document.querySelectorAll("#runs i").forEach((mark, place) => { mark.style.color = colourOf(place, count); });
    draw(Object.keys(figures));
  }

  function fillChoices() {
    data.runs.forEach((run, place) => {
      const box = element("input", undefined, { type: "checkbox" }), label = element("label");
      box.checked = true;
      box.addEventListener("change", () => { on[place] = box.checked; toggled(); });
      label.append(box, element("i"), element("span", run.name));
      $("runs").append(label);
      for (const id of ["filter-run", "scatter-x", "scatter-y"]) $(id).append(element("option", run.name, { value: place }));
    });
    const labels = [...new Set(data.runs.flatMap(run => run.images.label))].sort((a, b) => a - b);
    for (const label of labels) $("filter-class").append(element("option", className(data, label), { value: label }));
    $("filter-run").value = $("scatter-y").value = count - 1;
    $("scatter-x").value = Math.max(count - 2, 0);
    $("runs").hidden = count < 2;
    $("filter").hidden = $("list-controls").hidden = false;
    $("scatter-figure").hidden = count < 2;
    $("share-figure").hidden = !data.runs.some(run => run.images.share);
    $("votes-figure").hidden = $("spent-figure").hidden = !data.runs.some(run => run.images.votes);
    $("accuracy-ends").textContent = data.ends ? `The upright mark at the end of a curve: ${data.ends}.` : "";
  }

  function listen() {
    for (const id of ["filter-class", "filter-end", "filter-run"]) $(id).addEventListener("change", filtered);
    $("filter").addEventListener("submit", event => event.preventDefault());
    for (const id of ["scatter-x", "scatter-y"]) $(id).addEventListener("change", () => draw(["scatter"]));
    $("list-order").addEventListener("change", () => { rows = ROWS; list(); });
    $("list-more").addEventListener("click", () => { rows += 10 * ROWS; list(); });
    for (const button of document.querySelectorAll("button[data-copy]")) {
      button.addEventListener("click", async () => {
        const text = $(button.dataset.copy).textContent;
        try {
          await navigator.clipboard.writeText(text);
          button.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren($(button.dataset.copy));
          button.textContent = "Selected: press Ctrl-C";
        }
      });
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
    const observer = new IntersectionObserver(entries => {
      for (const entry of entries) if (entry.isIntersecting) visible.add(entry.target.id); else visible.delete(entry.target.id);
      draw([]);
    }, { rootMargin: "300px" });
    for (const home of document.querySelectorAll(".plot")) observer.observe(home);
    const plots = () => [...document.querySelectorAll(".plot")].filter(home => home.data);
    addEventListener("beforeprint", () => {
      for (const home of document.querySelectorAll(".plot")) visible.add(home.id);
      draw([]);
      for (const home of plots()) Plotly.relayout(home, { width: 640 });  // of a page, not of the window
    });
    addEventListener("afterprint", () => { for (const home of plots()) Plotly.relayout(home, { width: null, autosize: true }); });
  }

  fillChoices();
  listen();
  visible.add("accuracy");
  recolour();
  filtered();
  performance.mark("ready");
  document.documentElement.dataset.ready = "true";
})();
