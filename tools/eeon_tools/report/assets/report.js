"use strict";
// What the charts show, and what a click does. bokeh draws; the data is in the element "data" and is never changed.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const runs = data.runs;
  const byId = (id) => document.getElementById(id);
  const number = (value, digits = 0) =>
    value === null || value === undefined ? "-" :
      value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  // In milliseconds from 10 ms on, as the axis has it.
  const time = (us, digits = 1) => (us >= 10000 ? `${number(us / 1000, digits + 2)} ms` : `${number(us, digits)} us`);
  const element = (name, text, attributes = {}, space = "http://www.w3.org/1999/xhtml") => {
    const made = document.createElementNS(space, name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const KINDS = ["marked", "dropped early", "no room", "dropped", "held", "paused"];
  // Places in a detail.
  const [N, PORT, AT, KIND, QUEUE, PACKETS, WAITED, HELD, PAUSED, FLOW, WHY, AHEAD, REACTION] = Array(13).keys();
  const state = { a: 0, b: -1, port: 0 };

  let models = null;
  const model = (name) => models.get_model_by_name(name);

  const unflat = (flat) => {
    const found = [];
    for (let i = 0, at = 0; i < flat.length; i += 2) {
      at += flat[i];
      found.push([at, flat[i + 1]]);
    }
    return found;
  };

  // A step line that falls to zero where a period has no value.
  const steps = (run, flat) => {
    const x = [], y = [];
    let next = 0;
    for (const [at, value] of unflat(flat || [])) {
      if (at > next || x.length === 0) { x.push(next * run.period_us); y.push(0); }
      x.push(at * run.period_us); y.push(value);
      next = at + 1;
    }
    x.push(next * run.period_us, run.end_us); y.push(0, 0);
    return { x, y };
  };

  const depths = (run, flat) => {
    const found = [[0, 0], ...unflat(flat || [])];
    found.push([1000 * run.end_us, found.at(-1)[1]]);
    return { x: found.map(([ns]) => ns / 1000), y: found.map(([, depth]) => depth) };
  };

  const draw = () => {
    const empty = { x: [], y: [] };
    [state.a, state.b].forEach((index, place) => {
      const run = runs[index];
      const port = run && run.ports[state.port];
      const fill = (name, flat) => { model(name + place).data = port ? steps(run, flat) : empty; };
      model("depth" + place).data = port ? depths(run, port.steps) : empty;
      fill("marks", port && port.mark_counts);
      fill("drops", port && port.drop_counts);
      fill("asleep", port && port.asleep_percent);
      for (const name of ["threshold", "buffer"]) {
        const line = model(name + place), bytes = port ? port[name] : null;
        line.visible = bytes !== null;
        if (line.visible) line.location = bytes;
      }
    });
    const run = runs[state.a], port = run.ports[state.port];
    for (const kind of KINDS) {
      const found = run.details.map((one, at) => [one, at])
        .filter(([one]) => one[PORT] === state.port && one[KIND] === kind);
      model("points " + kind).data = {
        x: found.map(([one]) => one[AT]), y: found.map(([one]) => one[QUEUE]), n: found.map(([one]) => number(one[N])),
        why: found.map(([one]) => one[WHY]), at: found.map(([, at]) => at), time: found.map(([one]) => time(one[AT], 3)),
      };
    }
    key(run, port);
  };

  // Where an AQM counts packets, the line stands at the bytes of full frames.
  const acts_from = (port) => port.threshold_packets === null ? `${number(port.threshold)} B`
    : `${number(port.threshold_packets)} packets (drawn as full frames, ${number(port.threshold)} B)`;
  const key = (run, port) => {
    const of = port.changes_a_step > 1 ? `the highest depth of ${port.changes_a_step} changes a step` : "every change of the depth";
    const parts = [`${port.name} to ${port.peer}: ${of}; marks, drops and sleep by periods of ${time(run.period_us)}`];
    parts.push(`solid: ${run.name}`);
    if (state.b >= 0) parts.push(`dashed: ${runs[state.b].name}`);
    const other = runs[state.b] && runs[state.b].ports[state.port];
    const lines = (name, what, say) => {
      const values = [port, other].map((one) => one && one[name] && say(one));
      if (!values.some(Boolean)) return;
      const same = !other || values[0] === values[1];
      parts.push(`${what}: ${same ? values[0] : values.map((value, at) => `${value || "none"} (${runs[at ? state.b : state.a].name}${at ? ", paler" : ""})`).join(", ")}`);
    };
    lines("threshold", "dotted line, marks or drops from", acts_from);
    lines("buffer", "dash-dot line, buffer", (one) => `${number(one.buffer)} B`);
    parts.push("triangle: marked; cross: dropped; circle: held by a sleeping link; diamond: paused");
    for (const [kind, [kept, all]] of Object.entries(run.detail_counts)) {
      if (kept < all) parts.push(`${number(kept)} of ${number(all)} ${kind} can be clicked`);
    }
    byId("key").textContent = parts.join(" \u00b7 ");
  };

  const show = (from, to) => {
    const range = model("time"), end = runs[state.a].end_us;
    const width = Math.max(1e-3, Math.min(to - from, end));
    const start = Math.max(0, Math.min(from, end - width));
    range.start = start;
    range.end = start + width;
  };
  const sayWindow = () => {
    const range = model("time");
    byId("window").textContent = `${time(range.start)} to ${time(range.end)}`;
  };
  const zoom = (factor) => {
    const range = model("time"), middle = (range.start + range.end) / 2, half = (range.end - range.start) / 2 * factor;
    show(middle - half, middle + half);
  };
  const move = (share) => {
    const range = model("time"), by = (range.end - range.start) * share;
    show(range.start + by, range.end + by);
  };
  const whole = () => show(0, runs[state.a].end_us);

  const choosePort = (port) => {
    state.port = port;
    byId("port").value = String(port);
    draw();
    topology();
  };

  const command = (run, packet) =>
    data.explain.replace("{packet}", String(packet).replace(".", " --segment ")).replace("{config}", () => run.config);

  const depth = (port, one) => (port.threshold_packets === null ? `${number(one[QUEUE])} B` : `${number(one[PACKETS])} packets`);

  // One packet at one port, in words.
  const tell = (run, one, heading = "h3") => {
    const port = run.ports[one[PORT]];
    const box = element("div");
    box.append(element(heading, `Packet ${number(one[N])} ${one[KIND]} at ${port.name} to ${port.peer}`));
    const list = element("ul");
    const line = (text) => list.append(element("li", text));
    line(`${time(one[AT], 3)}: ${one[WHY]}`);
    line(`Flow ${one[FLOW]}`);
    line(`In the queue: ${number(one[QUEUE])} B. ${one[AHEAD]}.`);
    const causes = [[HELD, "asleep"], [PAUSED, "paused"]].filter(([place]) => one[place] > 0)
      .map(([place, cause]) => `, ${time(one[place], 3)} of it ${cause}`);
    if (one[WAITED] > 0) line(`In the queue for ${time(one[WAITED], 3)}${causes.join("")}.`);
    if (one[KIND] === "marked" && port.threshold !== null)
      line(`A threshold of ${depth(port, one)} or more would not have marked it (now ${acts_from(port)}).`);
    if (one[REACTION] && one[KIND] !== "held" && one[KIND] !== "paused") line(`Reaction: ${one[REACTION]}.`);
    else if (one[KIND] === "marked")
      line("Its sender does not react: hosts of a replay send what the trace says. Experiments have TCP that does.");
    if (one[KIND] === "dropped early" && port.threshold !== null)
      line(`An AQM that acts above ${depth(port, one)} would not have dropped it (now from ${acts_from(port)}).`);
    if (one[KIND] === "no room")
      line(`A buffer of ${number(one[QUEUE] + 1514)} B would have had room for it (now ${number(port.buffer)} B).`);
    if (data.explain) line(`All about it: ${command(run, one[N])}`);
    box.append(list);
    return box;
  };
  const detail = (at, focus = true) => {
    const run = runs[state.a], one = run.details[at];
    if (one[PORT] !== state.port) choosePort(one[PORT]);
    const box = byId("detail");
    box.replaceChildren(tell(run, one));
    const others = run.details.filter((other) => other !== one && other[N] === one[N]);
    if (others.length) box.append(element("h4", "Elsewhere"), ...others.map((other) => tell(run, other, "h4")));
    if (focus) box.focus();
  };
  const jump = (at) => {
    const one = runs[state.a].details[at], around = Math.max(1000, 4 * one[WAITED]);
    detail(at);
    show(one[AT] - around, one[AT] + around);
  };
  const find = (wanted) => {
    const run = runs[state.a];
    const at = run.details.findIndex((one) => `${one[N]}.`.startsWith(`${wanted}.`));
    if (at >= 0) return jump(at);
    const more = data.explain ? [element("p", "This command tells all about it:"), element("pre", command(run, wanted))] : [];
    byId("detail").replaceChildren(
      element("p", `Packet ${wanted} is not among those that were marked, dropped, held or paused and are kept in this page.`),
      ...more);
    byId("detail").focus();
  };

  const answers = () => {
    const run = runs[state.a], cards = [];
    const card = (title, text, go) => {
      const made = element("button", undefined, { class: "card" });
      made.append(element("b", title), element("span", text));
      made.addEventListener("click", go);
      cards.push(made);
    };
    const switches = run.ports.map((port, at) => [port, at]).filter(([port]) => !port.is_host);
    const [deepest, at] = switches.reduce((best, one) => (one[0].deepest > best[0].deepest ? one : best));
    card("Deepest queue", `${number(deepest.deepest)} B at ${deepest.name} to ${deepest.peer}, ${time(deepest.deepest_us)}`, () => {
      choosePort(at);
      show(deepest.deepest_us - 2000, deepest.deepest_us + 2000);
    });
    const packet = (title, place, say) => {
      if (place < 0) return card(title, "none", () => {});
      const one = run.details[place];
      card(title, `packet ${number(one[N])}${say(one, run.ports[one[PORT]].name)}`, () => jump(place));
    };
    const first = (title, kinds) =>
      packet(title, run.details.findIndex((one) => kinds.includes(one[KIND])), (one, port) => ` at ${port}, ${time(one[AT])}`);
    first("First mark", ["marked"]);
    first("First drop", ["dropped early", "no room", "dropped"]);
    const longest = (title, field) => {
      const place = run.details.reduce((best, one, at) => (one[field] > (best < 0 ? 0 : run.details[best][field]) ? at : best), -1);
      packet(title, place, (one, port) => `: ${time(one[field])} at ${port}`);
    };
    longest("Longest hold", HELD);
    longest("Longest pause", PAUSED);
    byId("answers").replaceChildren(...cards);
    byId("truncated").hidden = !run.truncated;
    byId("truncated").textContent = run.truncated ? `Cut off: ${run.truncated}.` : "";
  };

  // Links by a metric: wider and darker is more; the number stands in the title and the table.
  const topology = () => {
    const metric = byId("metric").value, run = runs[state.a], { layers } = data.topology;
    const most_in_a_layer = Math.max(...layers.map((layer) => layer.length)), labels = most_in_a_layer <= 40;
    // A character of a label takes at most 9 units.
    const each = Math.max(26, labels ? 9 * Math.max(...layers.flat().map((name) => name.length)) : 0);
    const width = Math.max(420, each * most_in_a_layer), rows = 100, top = 34, height = rows * (layers.length - 1) + 2 * top;
    const make = (name, attributes, text) => element(name, text, attributes, "http://www.w3.org/2000/svg");
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Links by ${metric}`, style: `min-width:${labels ? each * most_in_a_layer : 1400}px;max-width:${Math.max(720, width)}px` });
    const place = {};
    layers.forEach((layer, row) => layer.forEach((name, at) => { place[name] = [width * (at + 0.5) / layer.length, top + row * rows]; }));
    const most = Math.max(1e-12, ...run.ports.map((port) => port[metric]));
    const between = Map.groupBy(run.ports, (port) => [port.node, port.peer].sort().join());
    run.ports.forEach((port, at) => {
      const [x1, y1] = place[port.node], [x2, y2] = place[port.peer];
      // The lines between two nodes, one for each direction of each link, stand beside each other.
      const lines = between.get([port.node, port.peer].sort().join()), side = 10 * lines.indexOf(port) - 5 * (lines.length - 1);
      const [aside, down] = y1 === y2 ? [0, side] : [side, 0], share = port[metric] / most;
      const line = make("line", {
        x1: x1 + aside, y1: y1 + down, x2: x2 + aside, y2: y2 + down, class: at === state.port ? "link chosen" : "link", tabindex: 0, role: "button",
        "stroke-width": 1.5 + 5 * share, "stroke-opacity": 0.25 + 0.75 * share,
      });
      const shown = metric === "load" || metric === "asleep" ? `${number(100 * port[metric], 1)} %` : number(port[metric]);
      line.append(make("title", {}, `${port.name} to ${port.peer}: ${metric} ${shown}`));
      const choose = () => choosePort(at);
      line.addEventListener("click", choose);
      line.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
      svg.append(line);
    });
    const lowest = top + rows * (layers.length - 1);
    for (const [name, [x, y]] of Object.entries(place)) {
      svg.append(make("circle", { cx: x, cy: y, r: labels ? 13 : 5, class: "node" }));
      if (labels) svg.append(make("text", { x, y: y === lowest ? y + 29 : y - 17, "text-anchor": "middle" }, name));
    }
    byId("topology").replaceChildren(svg);
  };

  // A table whose columns sort; rows may be clicked.
  const table = (id, head, rows, chosen) => {
    const found = byId(id);
    const fill = (order, falling) => {
      const sorted = order === null ? rows : [...rows].sort((a, b) => {
        const [x, y] = [a.cells[order], b.cells[order]];
        const less = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        return falling ? -less : less;
      });
      const first = element("tr");
      head.forEach(([name], place) => {
        const cell = element("th", undefined, { scope: "col" });
        if (place === order) cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const button = element("button", name);
        button.addEventListener("click", () => fill(place, place === order ? !falling : true));
        cell.append(button);
        first.append(cell);
      });
      found.replaceChildren(first, ...sorted.map((row) => {
        const made = element("tr");
        row.cells.forEach((value, place) => made.append(element("td", typeof value === "number" ? number(value, row.digits ?? head[place][1]) : value ?? "-")));
        if (row.go) {
          made.className = "go"; made.tabIndex = 0;
          made.addEventListener("click", row.go);
          made.addEventListener("keydown", (event) => { if (event.key === "Enter") row.go(); });
        }
        return made;
      }));
    };
    fill(chosen, true);
  };

  const tables = () => {
    const run = runs[state.a], other = runs[state.b];
    const rows = run.ports.map((port, at) => ({
      cells: [`${port.name} to ${port.peer}`, port.rate_gbps, 100 * port.load, port.marks, port.drops, port.deepest, port.longest_hold_us, port.longest_pause_us, 100 * port.asleep, port.wakes],
      go: port.is_host ? null : () => { choosePort(at); byId("charts").scrollIntoView({ block: "center" }); },
    }));
    table("ports", [["port", 0], ["Gbit/s", 0], ["load %", 1], ["marks", 0], ["drops", 0], ["deepest B", 0], ["longest hold us", 1], ["longest pause us", 1], ["asleep %", 1], ["wakes", 0]], rows, 5);
    table("flows", [["flow", 0], ["packets", 0], ["bytes", 0], ["marks", 0], ["drops", 0], ["longest hold us", 1], ["longest pause us", 1]],
      run.flows.map((flow) => ({ cells: [flow.flow, flow.packets, flow.bytes, flow.marks, flow.drops, flow.longest_hold_us, flow.longest_pause_us] })), null);
    byId("flows-key").textContent = run.flow_count > run.flows.length ? `The ${run.flows.length} of ${number(run.flow_count)} flows with the most marks and drops.` : "";
    const names = Object.keys(run.totals);
    const shown = other ? [run, other] : runs.length > 1 ? runs : [run];
    table("totals", [["", 0], ...shown.map((one) => [one.name, 1])],
      names.map((name) => {
        const found = shown.map((one) => one.totals[name] ?? "-");
        return { cells: [name, ...found], digits: found.every((one) => Number.isInteger(one)) ? 0 : 1 };
      }), null);
  };

  const theme = () => {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim();
    for (const name of ["depth", "counts", "asleep"]) {
      const chart = model(name);
      for (const axis of [...chart.below, ...chart.left]) {
        axis.major_label_text_color = axis.axis_label_text_color = ink;
        axis.axis_line_color = axis.major_tick_line_color = axis.minor_tick_line_color = ink;
      }
      for (const grid of chart.center) if ("grid_line_color" in grid) grid.grid_line_color = ink;
    }
  };

  const all = () => { draw(); answers(); topology(); tables(); sayWindow(); };

  const start = () => {
    models = Bokeh.documents[0];
    const option = (text, value) => element("option", text, { value });
    byId("run-a").append(...runs.map((run, at) => option(run.name, at)));
    byId("run-b").append(option("nothing", -1), ...runs.map((run, at) => option(run.name, at)));
    if (runs.length === 1) { byId("label-a").hidden = byId("label-b").hidden = true; }
    else state.b = 1;
    byId("run-b").value = String(state.b);
    const ports = runs[0].ports.map((port, at) => [port, at]).filter(([port]) => !port.is_host);
    ports.sort(([a], [b]) => b.deepest - a.deepest);
    byId("port").append(...ports.map(([port, at]) => option(`${port.name} to ${port.peer} (${number(port.deepest)} B)`, at)));
    state.port = ports[0][1];
    byId("run-a").addEventListener("change", (event) => { state.a = Number(event.target.value); all(); });
    byId("run-b").addEventListener("change", (event) => { state.b = Number(event.target.value); all(); });
    byId("port").addEventListener("change", (event) => choosePort(Number(event.target.value)));
    byId("metric").addEventListener("change", topology);
    byId("find").addEventListener("submit", (event) => {
      event.preventDefault();
      find(byId("number").value.replace(/[^0-9.]/g, ""));
    });
    document.querySelectorAll("[data-zoom]").forEach((b) => b.addEventListener("click", () => zoom(Number(b.dataset.zoom))));
    document.querySelectorAll("[data-move]").forEach((b) => b.addEventListener("click", () => move(Number(b.dataset.move))));
    document.querySelector("[data-reset]").addEventListener("click", whole);
    byId("charts").addEventListener("keydown", (event) => {
      const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), Home: whole };
      if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
    });
    for (const kind of KINDS) {
      const source = model("points " + kind);
      source.selected.change.connect(() => {
        const [chosen] = source.selected.indices;
        if (chosen !== undefined) detail(source.data.at[chosen], false);
      });
    }
    const range = model("time");
    range.properties.start.change.connect(sayWindow);
    range.properties.end.change.connect(sayWindow);
    theme();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
    all();
    show(0, runs[0].active_us * 1.02);
    document.documentElement.dataset.ready = "yes";
  };
  // For tests, and for use from the browser's console.
  window.eeon = { state, find, zoom, data, model: (name) => model(name) };
  const wait = () => (window.Bokeh && Bokeh.documents.length && Bokeh.documents[0].get_model_by_name("time") ? start() : setTimeout(wait, 20));
  wait();
})();
