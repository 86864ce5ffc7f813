"use strict";
const { trace, says, labels } = JSON.parse(document.getElementById("data").textContent);
const el = id => document.getElementById(id);
const fill = (key, facts = {}) => labels[key].replace(/\{(\w+)\}/g, (whole, name) => facts[name] ?? whole);
const make = (tag, className = "", text = "") => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== "") made.textContent = text;
  return made;
};
const WARP = trace.warp, PACE = 700, MOST_CELLS = 1024, SVG = "http://www.w3.org/2000/svg";

// -- the trace ---------------------------------------------------------------------------------------

const numbers = text => text === "" ? [] : text.split(",").flatMap(run => {
  const [first, last = first] = run.split("-").map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
});
const unpacked = list => list.flatMap(each => Array.isArray(each)
  ? Array.from({ length: each[2] }, (_, index) => each[0] + each[1] * index) : [each]);
const ranges = list => {
  const runs = [];
  for (const number of list) {
    const run = runs.at(-1);
    if (run && run[1] + 1 === number) run[1] = number; else runs.push([number, number]);
  }
  return runs.map(([first, last]) => first === last ? `${first}` : `${first}–${last}`).join(", ");
};
const perBlock = trace.block[0] * trace.block[1] * trace.block[2];
const blocks = trace.positions.map(position => `(${position.slice(0, 3).join(", ")})`);
const count = perBlock * blocks.length;
/* The GPU of each block, if there are several; `gpus`: each once, in the order of the columns. */
const gpuOf = trace.positions.map(position => position[3]);
const gpus = [...new Set(gpuOf)].length > 1 ? [...new Set(gpuOf)].sort((a, b) => a - b) : [];
const whole = gpus.length === blocks.length;
const gpuOfThread = thread => gpuOf[Math.floor(thread / perBlock)];
/* Threads by their numbers in their blocks; with the block and the GPU, where there are several. */
const named = list => {
  if (blocks.length === 1) return ranges(list);
  const own = blocks.map((_, block) =>
    ranges(list.filter(t => Math.floor(t / perBlock) === block).map(t => t % perBlock)));
  if (own[0] && own.every(one => one === own[0])) return fill(whole ? "on_each" : "of_each", { threads: own[0] });
  const key = !gpus.length ? "threads_of" : whole ? "threads_on" : "threads_of_on";
  return own.flatMap((threads, block) =>
    threads ? [fill(key, { threads, position: blocks[block], gpu: gpuOf[block] })] : []).join("; ");
};
/* A column for each GPU, or the box itself. */
const columnsIn = box => {
  if (!gpus.length) return () => box;
  const columns = new Map(gpus.map(gpu => [gpu, make("div", "gpu")]));
  const row = make("div", "gpus");
  for (const [gpu, column] of columns) {
    column.append(make("h3", "", fill("gpu", { gpu })));
    row.append(column);
  }
  box.append(row);
  return gpu => columns.get(gpu) ?? box;
};
const steps = trace.steps.map(step => ({
  ...step, threads: numbers(step.threads),
  given: new Map(step.exchange ? numbers(step.exchange.threads).map((thread, index) =>
    [thread, [step.exchange.values[index], unpacked(step.exchange.sources)[index]]]) : []),
  moves: (step.moves ?? []).map(move => ({
    after: [], cost: [0, 0], ...move,
    threads: numbers(move.threads), cells: unpacked(move.cells), refused: new Set(numbers(move.refused ?? "")),
  })),
}));
const last = steps.length - 1;
const barriers = steps.flatMap((step, index) => step.kind === "barrier" ? [index] : []);
const ended = new Array(count).fill(Infinity);
steps.forEach((step, index) => { if (step.kind === "exit") for (const t of step.threads) ended[t] = index; });

/* The cells and threads after the steps up to `at`. */
const fresh = () => ({
  at: -1,
  cells: trace.buffers.map(buffer => new Map(
    buffer.initial.flatMap(([first, values]) => values.map((value, index) => [first + index, { value }])))),
  threads: Array.from({ length: count }, () => ({ line: 0, file: -1, state: "idle" })),
});
let state = fresh();

function apply(index) {
  const step = steps[index];
  for (const t of step.threads) {
    Object.assign(state.threads[t], { line: step.line, file: step.file, state: {
      arrive: "waiting", stuck: "waiting", poll: "waiting", exit: "ended" }[step.kind] ?? "idle" });
  }
  for (const move of step.moves) {
    const cells = state.cells[move.buffer];
    const cell = number => {
      if (!cells.has(number)) cells.set(number, { value: null });
      return cells.get(number);
    };
    const readers = new Map();
    move.threads.forEach((thread, lane) => {
      for (let k = 0; k < move.width; k++) {
        const number = move.cells[lane] + k, one = cell(number);
        const value = move.values.length ? move.values[lane * move.width + k] : one.value;
        if (move.refused.has(thread)) { one.outside = true; continue; }
        if (move.action !== "store") {
          if (!readers.has(number)) readers.set(number, []);
          readers.get(number).push(thread);
        }
        if (move.action === "load") {
          if (one.value !== value) Object.assign(one, { value, writer: null, written: index });
        } else {
          if (move.action === "store") one.value = value;
          Object.assign(one, { writer: thread, written: index });
        }
      }
    });
    for (const [number, threads] of readers) Object.assign(cell(number), { readers: threads, read: index });
    for (const [number, value] of move.after) {
      const one = cell(number);
      one.value = value;
      if (step.kind === "end") Object.assign(one, { writer: null, written: index });
    }
  }
  state.at = index;
}

function seek(index) {
  if (index < state.at) state = fresh();
  while (state.at < index) apply(state.at + 1);
}

// -- the source --------------------------------------------------------------------------------------

let shownFile = -1;
let lines = new Map();

function showFile(number) {
  if (number === shownFile || number < 0) return;
  shownFile = number;
  const file = trace.files[number];
  el("file").textContent = file.name;
  const list = make("ol");
  lines = new Map();
  file.lines.forEach((text, index) => {
    const row = make("li");
    row.append(make("b", "", file.first + index));
    const comment = text.search(/(^|\s)#/), whole = make("span");
    whole.append(make("code", "", comment < 0 ? text : text.slice(0, comment)));
    if (comment >= 0) whole.append(make("i", "", text.slice(comment)));
    whole.style.setProperty("--in", text.search(/\S|$/));
    row.append(whole);
    lines.set(file.first + index, row);
    list.append(row);
  });
  el("source").replaceChildren(file.lines.length ? list : make("p", "more", labels.no_source));
}

function showSource(step, mark) {
  const number = step.file >= 0 ? step.file : Math.max(shownFile, 0);
  if (!trace.files.length) { el("source").replaceChildren(make("p", "more", labels.no_source)); return; }
  showFile(number);
  for (const row of lines.values()) {
    row.className = "";
    row.removeAttribute("aria-current");
    row.querySelectorAll(".chips").forEach(old => old.remove());
  }
  const active = new Set(step.threads);
  const groups = new Map();
  state.threads.forEach((thread, index) => {
    if (thread.state === "ended" || thread.file !== number) return;
    const key = `${thread.line} ${thread.state === "waiting" ? "waiting" : active.has(index) ? "active" : ""}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(index);
  });
  for (const [key, threads] of groups) {
    const [line, kind] = key.split(" ");
    const row = lines.get(Number(line));
    if (!row) continue;
    row.classList.add("other");
    if (!row.querySelector(".chips")) row.append(make("span", "chips"));
    row.querySelector(".chips").append(make("span", `at ${kind}`, `${labels.threads} ${named(threads)}`));
  }
  for (const party of mark?.parties ?? []) {
    const other = steps[party.step];
    if (other && other.file === number) lines.get(other.line)?.classList.add("accused");
  }
  const row = step.file === number ? lines.get(step.line) : null;
  if (!row) return;
  row.classList.add("now");
  row.setAttribute("aria-current", "step");
  const box = el("source");
  const top = row.offsetTop, view = box.clientHeight;
  if (top < box.scrollTop + 40 || top > box.scrollTop + view / 2) box.scrollTop = top - view / 4;
}

// -- threads -----------------------------------------------------------------------------------------

const tiles = [];
function buildThreads() {
  const wide = trace.block[0], columnOf = columnsIn(el("threads"));
  const small = count > 64;
  el("threads").classList.toggle("many", count > 256);
  const perRow = trace.block[1] > 1 && wide > 1 && wide <= 16 && (WARP % wide === 0 || perBlock <= WARP) ? wide
    : small ? 16 : Math.min(8, perBlock);
  for (let first = 0; first < count; first += Math.min(WARP, perBlock - first % perBlock)) {
    const box = make("div", "warp"), inside = first % perBlock;
    const title = [
      ...(blocks.length > 1 && !whole ? [fill("block", { position: blocks[Math.floor(first / perBlock)] })] : []),
      ...(perBlock > WARP ? [fill("warp", { n: inside / WARP })] : []),
    ].join(" · ");
    if (title) box.append(make("h3", "", title));
    const list = make("ol", small ? "lanes small" : "lanes");
    list.style.setProperty("--columns", perRow);
    list.dataset.columns = perRow;
    for (let thread = first; thread < first + Math.min(WARP, perBlock - inside); thread++) {
      const tile = make("li");
      tile.append(make("b", "", thread % perBlock), make("span"), make("small"));
      tiles.push(tile);
      list.append(tile);
    }
    box.append(list);
    columnOf(gpuOfThread(first)).append(box);
  }
}

/* Six digits, of small numbers with an exponent. */
const shown = value => {
  if (value === null || value === undefined) return "?";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  const rounded = Number(value.toPrecision(6));
  return Math.abs(rounded) < 1e-3 ? rounded.toExponential() : String(rounded);
};

/* The letters of the longest value of each buffer, in all steps. */
const longest = trace.buffers.map(buffer => Math.max(1, ...buffer.initial.map(([, values]) => lettersOf(values))));
for (const step of steps) for (const move of step.moves) {
  longest[move.buffer] = Math.max(longest[move.buffer], lettersOf(move.values), lettersOf(move.after.map(([, value]) => value)));
}
function lettersOf(values) { return values.reduce((most, value) => Math.max(most, value === null ? 1 : shown(value).length), 0); }
/* The letters of what threads do: an arrow, and the values. */
const longestMove = Math.max(1, ...steps.flatMap(step => [
  ...step.moves.map(move => 2 + (longest[move.buffer] + 1) * move.width - 1),
  ...(step.exchange ? [2 + lettersOf(step.exchange.values)] : []),
]));

/* Fewer threads in a row where what they do would be cut off. Those of a block of several rows keep theirs. */
function fitThreads() {
  for (const list of document.querySelectorAll(".lanes:not(.small)")) {
    const measure = make("span", "measure", "0".repeat(longestMove));
    list.firstChild.append(measure);
    const least = measure.offsetWidth + 6;
    measure.remove();
    let columns = Number(list.dataset.columns);
    if (trace.block[1] === 1) while (columns % 2 === 0 && columns * (least + 4) - 4 > list.clientWidth) columns /= 2;
    list.style.setProperty("--columns", columns);
    list.style.setProperty("--least", `${least}px`);
  }
  // What is wider than the page is scrolled with the keyboard, too.
  for (const list of document.querySelectorAll(".lanes")) {
    if (list.scrollWidth > list.clientWidth) list.tabIndex = 0; else list.removeAttribute("tabindex");
  }
}

function showThreads(step, mark) {
  const active = new Set(step.threads);
  const moved = new Map();
  for (const move of step.moves) {
    move.threads.forEach((thread, lane) => {
      const values = move.values.length ? move.values.slice(lane * move.width, (lane + 1) * move.width)
        : Array.from({ length: move.width }, (_, k) => state.cells[move.buffer].get(move.cells[lane] + k).value);
      moved.set(thread, [move.action, move.refused.has(thread) ? "✗" : values.map(shown).join(" ")]);
    });
  }
  const accused = new Set((mark?.parties ?? []).map(party => party.thread));
  tiles.forEach((tile, thread) => {
    const { line, state: kept } = state.threads[thread];
    const kind = kept !== "idle" ? kept : active.has(thread) ? "active" : "idle";
    const [action, text] = moved.get(thread) ?? ["", ""];
    tile.className = [kind, action === "load" ? "load" : action ? "store" : "", accused.has(thread) ? "accused" : ""]
      .filter(Boolean).join(" ");
    const [value, source] = step.given.get(thread) ?? [];
    const what = value !== undefined ? `⇄ ${shown(value)}` : text === "" ? "" : (action === "load" ? "← " : "→ ") + text;
    tile.children[1].textContent = what;
    tile.children[2].textContent = source >= 0 && source !== thread ? `‹ ${source % perBlock}` : "";
    let label = fill("line_of", { thread: named([thread]), state: labels[kind], line });
    if (source >= 0) label += ` · ${fill("received", { value: shown(value), thread: named([source]) })}`;
    else if (what) label += ` · ${what}`;
    tile.title = label;
    tile.setAttribute("aria-label", label);
  });
  const box = el("threads"), first = tiles[step.threads[0]];
  if (first && count > 256) box.scrollTop = first.offsetTop - 24;
}

// -- memory ------------------------------------------------------------------------------------------

const short = thread => thread === null ? "*"
  : whole ? `${thread % perBlock}/${gpuOfThread(thread)}`
  : blocks.length > 1 ? `${thread % perBlock}/${Math.floor(thread / perBlock)}` : thread;
const boards = [];
function buildMemory() {
  const columnOf = columnsIn(el("memory"));
  trace.buffers.forEach((buffer, number) => {
    const touched = new Set();
    for (const step of steps) for (const move of step.moves) {
      if (move.buffer !== number) continue;
      for (const cell of move.cells) for (let k = 0; k < move.width; k++) touched.add(cell + k);
      for (const [cell] of move.after) touched.add(cell);
    }
    const whole = buffer.cells <= 256;
    const cells = whole ? Array.from({ length: buffer.cells }, (_, cell) => cell) : [];
    for (const cell of touched) if (!whole || cell < 0 || cell >= buffer.cells) cells.push(cell);
    cells.sort((one, other) => one - other);
    const kept = cells.slice(0, MOST_CELLS);
    const box = make("section", "buffer");
    const head = make("h3", "", buffer.name);
    const owner = buffer.block >= 0 && !whole ? `${fill("block", { position: blocks[buffer.block] })} · ` : "";
    head.append(make("small", "", `${owner}${labels[buffer.space]} · ${buffer.cells} × ${buffer.format}`));
    const rows = buffer.columns && whole && buffer.columns <= 16;
    const grid = make("div", rows ? "cells rows" : "cells");
    grid.style.setProperty("--columns", rows ? buffer.columns : 8);
    grid.style.setProperty("--letters", longest[number]);
    grid.classList.toggle("many", kept.length > (gpus.length ? 64 : 256));
    const board = new Map();
    for (const cell of kept) {
      const button = make("button");
      button.type = "button";
      const top = make("small"), bottom = make("small");
      top.append(make("i", "", cell));
      bottom.append(make("i", "w"), make("i", "r"));
      button.append(top, make("span"), bottom);
      button.addEventListener("click", () => { el("detail").textContent = button.getAttribute("aria-label"); });
      if (cell < 0 || cell >= buffer.cells) button.dataset.outside = "";
      board.set(cell, button);
      grid.append(button);
    }
    box.append(head, grid);
    const left = (whole ? 0 : buffer.cells - kept.length);
    if (left > 0) box.append(make("p", "more", fill("more_cells", { n: left })));
    boards.push(board);
    columnOf(buffer.gpu ?? gpuOf[buffer.block]).append(box);
  });
  if (!trace.buffers.length) el("memory").append(make("p", "more", labels.no_memory));
}

function showMemory(step, index, mark) {
  const now = trace.buffers.map(() => [new Set(), new Set()]);
  for (const move of step.moves) {
    const [reads, writes] = now[move.buffer];
    for (const cell of move.cells) for (let k = 0; k < move.width; k++) {
      if (move.action !== "store") reads.add(cell + k);
      if (move.action !== "load") writes.add(cell + k);
    }
    for (const [cell] of move.after) writes.add(cell);
  }
  boards.forEach((board, number) => {
    const [reads, writes] = now[number];
    const first = board.get(Math.min(...reads, ...writes)), box = first?.parentElement;
    if (box?.matches(".many")) box.scrollTop = first.offsetTop - 8;
    for (const [cell, button] of board) {
      const one = state.cells[number].get(cell) ?? { value: null };
      const outside = button.dataset.outside !== undefined;
      button.className = [
        writes.has(cell) ? "writes" : reads.has(cell) ? "reads" : "", outside ? "outside" : "",
        one.value === null ? "empty" : "", mark && mark.buffer === number && mark.cell === cell ? "accused" : "",
      ].filter(Boolean).join(" ");
      button.children[1].textContent = outside ? "✗" : one.value === null ? "·" : shown(one.value);
      const [w, r] = button.lastChild.children;
      w.textContent = one.written === undefined ? "" : `w${short(one.writer)}`;
      r.textContent = one.read === undefined ? "" : `r${short(one.readers[0])}${one.readers.length > 1 ? "…" : ""}`;
      const facts = [`${trace.buffers[number].name}[${cell}]: `
        + (outside ? labels.outside : one.value === null ? labels.unwritten : shown(one.value))];
      if (one.written !== undefined) {
        facts.push(one.writer === null ? labels.by_other : fill("by", { thread: named([one.writer]), step: one.written + 1 }));
      }
      if (one.read !== undefined) facts.push(fill("read_by", { threads: named(one.readers), step: one.read + 1 }));
      button.setAttribute("aria-label", facts.join("; "));
      button.title = facts.join("; ");
    }
  });
  el("detail").textContent = trace.buffers.length ? labels[whole ? "select_gpus" : "select"] : "";
}

// -- accesses to the memory of another GPU ------------------------------------------------------------

/* The box around some elements, in pixels of the panels; what a box scrolls out of sight is at its edge. */
function around(elements, origin) {
  const boxes = elements.map(each => {
    const one = each.getBoundingClientRect(), view = each.closest(".many")?.getBoundingClientRect();
    const inside = y => view ? Math.min(Math.max(y, view.top), view.bottom) : y;
    return { left: one.left, right: one.right, top: inside(one.top), bottom: inside(one.bottom) };
  });
  return {
    x: (Math.min(...boxes.map(one => one.left)) + Math.max(...boxes.map(one => one.right))) / 2 - origin.left,
    top: Math.min(...boxes.map(one => one.top)) - origin.top,
    bottom: Math.max(...boxes.map(one => one.bottom)) - origin.top,
  };
}

/* An arrow from the cells to the threads that read them, or from the threads to the cells that they write. */
function drawLinks() {
  if (!gpus.length) return;
  const picture = el("links"), origin = picture.getBoundingClientRect();
  picture.replaceChildren();
  for (const move of steps[Math.max(state.at, 0)].moves) {
    const owner = trace.buffers[move.buffer].gpu;
    const remote = move.threads.filter(thread => owner !== undefined && gpuOfThread(thread) !== owner);
    const cells = move.cells.flatMap((cell, lane) =>
      remote.includes(move.threads[lane]) && boards[move.buffer].has(cell) ? [boards[move.buffer].get(cell)] : []);
    if (!cells.length) continue;
    const threads = around(remote.map(thread => tiles[thread]), origin), memory = around(cells, origin);
    const reads = move.action === "load", path = document.createElementNS(SVG, "path");
    const [from, to] = reads ? [memory, threads] : [threads, memory];
    const [y, end] = reads ? [memory.top, threads.bottom + 7] : [threads.bottom, memory.top - 7];
    const middle = (y + end) / 2;
    path.setAttribute("class", reads ? "load" : "store");
    path.setAttribute("d", `M${from.x} ${y}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${end}`
      + `m-5 ${reads ? 6 : -6}l5 ${reads ? -8 : 8}l5 ${reads ? 8 : -8}`);
    picture.append(path);
  }
}

// -- findings ----------------------------------------------------------------------------------------

/* The finding whose parties act in a step, if there is one. */
const markAt = index => trace.marks.find(mark => mark.step === index)
  ?? trace.marks.find(mark => mark.parties.some(party => party.step === index));

function showMarks(index, mark) {
  const box = el("marks");
  box.replaceChildren();
  if (!mark) return;
  const one = make("section", mark.error ? "mark" : "mark warning");
  one.setAttribute("aria-label", labels[mark.error ? "finding" : "warning"]);
  one.append(make("h2", "", `${labels[mark.error ? "finding" : "warning"]}: ${mark.what}`));
  const where = make("p", "where");
  for (const line of mark.where) where.append(make("span", "", line));
  one.append(where, make("p", "", `${mark.why} ${mark.hint}`));
  const links = make("nav");
  for (const party of [...mark.parties].sort((a, b) => a.step - b.step)) {
    if (party.step < 0) { links.append(make("span", "", fill("no_step", { thread: named([party.thread]) }))); continue; }
    const button = make("button", "", 
      fill("show_step", { n: party.step + 1, thread: named([party.thread]), line: steps[party.step].line }));
    button.type = "button";
    if (party.step === index) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => { show(party.step); focusMark(party.step); });
    links.append(button);
  }
  one.append(links);
  box.append(one);
}
const focusMark = step => [...document.querySelectorAll(".mark nav button")]
  .find(button => button.getAttribute("aria-current") === "step" && step === state.at)?.focus();

// -- the time line -----------------------------------------------------------------------------------

const at = index => `${last ? index / last * 100 : 0}%`;
function buildTimeline() {
  el("time").max = last;
  const edges = [0, ...barriers];
  edges.forEach((start, number) => {
    const phase = make("span");
    phase.dataset.number = number;
    phase.style.left = at(start);
    phase.style.width = `calc(${at((edges[number + 1] ?? last) - start)})`;
    el("phases").append(phase);
  });
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", `0 0 ${last || 1} 1`);
  picture.setAttribute("preserveAspectRatio", "none");
  for (const kind of ["load", "store"]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", kind);
    path.setAttribute("d", steps.map((step, index) => step.threads.length
      && step.moves.some(move => (move.action === "load") === (kind === "load")) ? `M${index} 0v1` : "").join(""));
    picture.append(path);
  }
  el("ticks").append(picture);
  trace.marks.forEach(mark => {
    const flag = make("button", "", mark.error ? "▲" : "△");
    flag.type = "button";
    flag.style.left = at(mark.step);
    flag.title = mark.what;
    flag.setAttribute("aria-label", `${labels.finding}: ${mark.what}`);
    flag.addEventListener("click", () => show(mark.step));
    el("flags").append(flag);
  });
}

/* A phase that is too narrow for its name has its number alone. */
function namePhases() {
  for (const phase of el("phases").children) {
    const n = phase.dataset.number, width = phase.getBoundingClientRect().width;
    phase.textContent = width > 58 ? fill("phase", { n }) : width > 16 ? n : "";
  }
}

function show(index) {
  index = Math.max(0, Math.min(last, index));
  seek(index);
  const step = steps[index], mark = markAt(index);
  el("time").value = index;
  el("time").setAttribute("aria-valuetext", says[index]);
  el("count").textContent = fill("step", { n: index + 1, all: last + 1 });
  el("says").textContent = says[index];
  el("first").disabled = el("previous").disabled = index === 0;
  el("last").disabled = el("next").disabled = index === last;
  showMarks(index, mark);
  showSource(step, mark);
  showThreads(step, mark);
  showMemory(step, index, mark);
  drawLinks();
}

let timer = 0;
const ICONS = {
  first: "M2 2h2v12H2zM14 2v12L5 8z", previous: "M11 1 3 8l8 7 1.5-1.7L6.4 8l6.1-5.3z", next: "M5 1l8 7-8 7-1.5-1.7L9.6 8 3.5 2.7z",
  last: "M12 2h2v12h-2zM2 2v12l9-6z", play: "M4 2v12l9-6z", pause: "M3 2h4v12H3zM9 2h4v12H9z",
};
const icon = name => {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  for (const [key, value] of Object.entries({ viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": true })) {
    svg.setAttribute(key, value);
  }
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
};
function play(on) {
  clearInterval(timer);
  timer = on ? setInterval(() => state.at < last ? show(state.at + 1) : play(false), PACE) : 0;
  const name = on ? "pause" : "play";
  el("play").replaceChildren(icon(name));
  el("play").title = labels[name];
  el("play").setAttribute("aria-label", labels[name]);
  el("says").setAttribute("aria-live", on ? "off" : "polite");
}
const toggle = () => { if (!timer && state.at === last) show(0); play(!timer); };

const go = {
  ArrowLeft: () => show(state.at - 1), ArrowRight: () => show(state.at + 1),
  ArrowDown: () => show(state.at - 1), ArrowUp: () => show(state.at + 1),
  Home: () => show(0), End: () => show(last),
  PageUp: () => show(barriers.findLast(index => index < state.at) ?? 0),
  PageDown: () => show(barriers.find(index => index > state.at) ?? last),
};
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape" && parent !== self) parent.postMessage("close-replay", "*");
  const inside = event.target.closest("#source");
  if (event.key === " ") {
    if (event.target.closest("button")) return;
    toggle();
  } else if (go[event.key] && !(inside && event.key !== "ArrowLeft" && event.key !== "ArrowRight")
      && !(event.key.match(/Up$|Down$/) && event.key.startsWith("Arrow") && event.target !== el("time"))) {
    play(false);
    go[event.key]();
  } else return;
  event.preventDefault();
});
for (const [id, index] of [["first", () => 0], ["previous", () => state.at - 1], ["next", () => state.at + 1],
  ["last", () => last]]) {
  el(id).replaceChildren(icon(id));
  el(id).addEventListener("click", () => { play(false); show(index()); });
}
el("play").addEventListener("click", toggle);
el("time").addEventListener("input", () => { play(false); show(Number(el("time").value)); });

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
/* In a frame of the book, the address has the theme of its page: #dark. */
const wanted = ["dark", "light"].find(name => location.hash === `#${name}`);
const follow = () => { root.dataset.theme = wanted ?? (dark.matches ? "dark" : "light"); };
follow();
dark.addEventListener("change", () => { if (parent === self) follow(); });
addEventListener("message", message => {
  const theme = message.source === parent && /^theme-(dark|light)$/.exec(message.data);
  if (theme) root.dataset.theme = theme[1];
});
el("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; });

buildThreads();
buildMemory();
buildTimeline();
namePhases();
fitThreads();
addEventListener("resize", () => { namePhases(); fitThreads(); drawLinks(); });
document.fonts.ready.then(() => { fitThreads(); drawLinks(); });
document.querySelector(".side").addEventListener("scroll", drawLinks, true);
play(false);
if (!trace.marks.length) document.querySelector(".of-marks").remove();
show(trace.marks.find(mark => mark.error)?.step ?? trace.marks[0]?.step ?? 0);
