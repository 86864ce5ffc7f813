// What `tooling book serve` adds to a page: progress, hints one by one, a button that judges, reloading.
"use strict";
(() => {
  const served = JSON.parse(document.getElementById("served").textContent);
  const words = served.words[document.documentElement.lang] || served.words.en;
  const fill = (text, facts) => text.replace(/\{(\w+)\}/g, (_, name) => facts[name]);
  const make = (tag, name, text = "") => {
    const box = document.createElement(tag);
    box.className = name;
    box.textContent = text;
    return box;
  };
  const button = (name, text) => Object.assign(make("button", `served-button ${name}`, text), { type: "button" });

  // ---- progress: a tick at every solved puzzle, and the number of them ----
  const bar = make("label", "served-progress");
  function showProgress({ solved, total }) {
    document.querySelectorAll(".solved").forEach((tick) => tick.remove());
    const tick = `<span class="solved" role="img" aria-label="${words.solved}">${served.signs["✓"]}</span>`;
    for (const number of solved) {
      for (const selector of [
        `.sidebar :is(section, details) > ol > li > a[href*="puzzle_${number}/"]`,
        `.puzzle-card[data-puzzle="p${number}"] .puzzle-facts`,
        `.map [data-puzzle="p${number}"] > a`,
      ]) document.querySelectorAll(selector).forEach((box) => box.insertAdjacentHTML("beforeend", tick));
    }
    bar.textContent = fill(words["served-progress"], { solved: solved.length, total });
    bar.append(Object.assign(document.createElement("progress"), { max: total || 1, value: solved.length }));
  }
  document.querySelector(".sidebar > section")?.before(bar);
  showProgress(served.reader);

  // ---- hints: the next one at the press of a button; what was shown is shown again after a reload ----
  document.querySelectorAll(".solution-tips").forEach((box, index) => {
    const hints = [...box.querySelectorAll(":scope > ol > li")];
    if (!hints.length) return;
    const key = `hints:${location.pathname}:${index}`;
    const more = button("served-hint", "");
    let shown = 1;
    try { shown = Number(sessionStorage.getItem(key)) || 1; } catch { /* no storage: from the first */ }
    const show = () => {
      hints.forEach((hint, index) => { hint.hidden = index >= shown; });
      more.hidden = shown >= hints.length;
      more.textContent = fill(words["served-hint"], { number: shown + 1, count: hints.length });
    };
    more.addEventListener("click", () => {
      shown += 1;
      try { sessionStorage.setItem(key, shown); } catch { /* not kept */ }
      show();
    });
    box.append(more);
    show();
  });

  // ---- runs ----
  // Terminal output, one block for each line as in the book's own verdicts: long lines are wrapped under their beginning.
  function lines(output) {
    const found = [];
    let line;
    const begin = () => found.push(line = make("span", ""));
    for (const [text, style] of output) {
      text.split("\n").forEach((part, index) => {
        if (index || !line) begin();
        if (!part) return;
        const box = make("b", style);
        for (const piece of part.split(/([✅❌])/)) {
          if (served.signs[piece]) box.insertAdjacentHTML("beforeend", served.signs[piece]);
          else box.append(piece);
        }
        line.append(box);
      });
    }
    if (line && !line.textContent) found.pop(); // after the last line break
    found.forEach((each) => {
      if (!each.childNodes.length) each.append("\u00a0");
      each.style.setProperty("--hang", `${each.textContent.search(/\S|$/) + 2}ch`);
    });
    return found;
  }
  const panels = [];
  let timer;
  async function ask(body) {
    const headers = { [served.header]: served.token };
    if (body) headers["Content-Type"] = "application/json";
    try {
      const answer = await fetch(served.run, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
      return answer.ok ? await answer.json() : { error: words["served-locked"] };
    } catch {
      return { error: words["served-ended"] };
    }
  }
  async function update(body) {
    clearTimeout(timer);
    const state = await ask(body);
    if (state.reader) showProgress(state.reader);
    panels.forEach((panel) => panel.show(state));
    if (state.running) timer = setTimeout(update, 400);
  }
  function addPanel(group) {
    const runs = JSON.parse(group.dataset.runs);
    const actions = make("div", "served-actions");
    const state = make("span", "served-state");
    group.append(actions);
    if (!served.token) {
      state.textContent = words["served-locked"];
      actions.append(state);
      return;
    }
    state.setAttribute("role", "status");
    const run = button("served-run", words["served-run"]);
    const stop = button("served-stop", words["served-stop"]);
    const verdict = make("pre", "served-verdict");
    const code = make("code", "verdict language-text");
    verdict.append(code);
    actions.append(run, stop, state);
    group.append(verdict);
    stop.hidden = verdict.hidden = true;
    run.addEventListener("click", () => {
      // The command of the open tab, where the page has one for each tensor API.
      const tab = group.querySelector(".variants > [data-tab]:not([hidden])")?.dataset.tab;
      update({ command: runs[tab] || Object.values(runs)[0], language: document.documentElement.lang });
    });
    stop.addEventListener("click", () => update({ command: "", language: document.documentElement.lang }));
    panels.push({
      show(found) {
        const own = Object.values(runs).includes(found.command);
        stop.hidden = !(own && found.running);
        run.textContent = own && !found.running ? words["served-again"] : words["served-run"];
        if (found.error) state.textContent = found.error;
        else if (!own) state.textContent = "";
        else if (found.running) state.textContent = fill(words["served-running"], found);
        else state.textContent = "";
        if (found.error) return;
        verdict.hidden = !own || !found.output.length;
        if (own) code.replaceChildren(...lines(found.output));
      },
    });
  }
  if (served.run) {
    document.querySelectorAll(".code-tabs[data-runs]").forEach(addPanel);
    if (panels.length) update(); // the last run is shown again after a reload
  }

  // ---- reloading: pages ask every second, since a browser opens at most six connections to a server ----
  let first;
  setInterval(async () => {
    if (document.hidden) return;
    try {
      const number = await (await fetch(served.changes)).text();
      first ??= number;
      if (number !== first) location.reload();
    } catch { /* the server has ended */ }
  }, 1000);
})();
