internal import Interceptors

extension JournalPageTemplate {
    /// The script of a journal's page, in plain JavaScript. It sets text only by nodes of text, never as HTML.
    static let script = #"""

        "use strict";
        const data = JSON.parse(document.getElementById("data").textContent);
        const byId = (id) => document.getElementById(id);
        const [list, detail, search, filters] = ["list", "detail", "search", "filters"].map(byId);
        const rowHeight = 48, longText = 50000;

        // ---- Text. Characters that would be invisible, or would reorder the text around them, are shown by their numbers.
        const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
        const shown = (text) => text.replace(hidden, (c) => "\\u{" + c.charCodeAt(0).toString(16) + "}");
        const string = (index) => index === undefined ? undefined : data.strings[index];
        const number = (value) => value.toLocaleString("en");

        function el(tag, attributes, ...children) {
          const element = document.createElement(tag);
          for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, value);
          for (const child of children.flat()) if (child !== undefined) element.append(typeof child === "string" ? shown(child) : child);
          return element;
        }
        function time(micros) {
          if (micros === undefined) return "running";
          if (micros < 1000) return micros + "\u00a0µs";
          if (micros < 1e6) return Number((micros / 1000).toPrecision(3)) + "\u00a0ms";
          if (micros < 6e7) return (micros / 1e6).toFixed(2) + "\u00a0s";
          return Math.floor(micros / 6e7) + "\u00a0min " + Math.round(micros / 1e6 % 60) + "\u00a0s";
        }
        const bytes = (size) => size < 1000 ? size + " B" : size < 1e6 ? (size / 1e3).toFixed(1) + " kB" : (size / 1e6).toFixed(1) + " MB";
        const clock = (micros) => new Date(micros / 1000).toISOString().slice(11, 23);
        const plural = (count, word) => number(count) + " " + word + (count === 1 ? "" : "s");
        const colour = (step) => step.e ? "bad" : !step.response ? "dim" : step.response.status >= 500 ? "bad" : step.response.status >= 400 ? "odd" : "good";
        const result = (step) => step.e ? (step.e.cancelled ? "cancelled" : "error") : step.response ? String(step.response.status) : "…";

        // ---- The calls. A request that a step didn't change isn't in the data again, and 0 is an unchanged response.
        const calls = data.calls.map((call) => {
          const texts = new Set(), attempts = [];
          let steps = 0;
          const note = (...indices) => { for (const index of indices) if (index !== undefined) texts.add(index); };
          const noteMessage = (message) => note(message.method, message.url, message.text, ...(message.fields ?? []));
          (function visit(step, above) {
            steps += 1;
            note(step.n, step.v, step.a);
            if (step.q) noteMessage(step.q);
            step.request = step.q ?? above.request;
            if (step.e) note(step.e.type, step.e.code, step.e.text);
            for (const reason of step.k ?? []) note(reason.what, reason.text);
            for (const below of step.c ?? []) visit(below, step);
            step.response = step.r === 0 ? step.c.at(-1).response : step.r;
            if (step.r) noteMessage(step.r);
            if (step.t) attempts.push(step);
          })(call.root ?? { n: undefined, s: 0, q: {}, e: undefined }, undefined);
          const root = call.root;
          const state = !root ? "lost" : root.e ? "failed" : !root.response ? "running" : "done";
          return { ...call, texts, attempts, steps, state, end: call.at + (root?.d ?? 0), summary: summary(root) };
        });
        const callWithId = new Map(calls.map((call) => [call.id, call]));

        function summary(root) {
          if (!root) return { method: "", path: "omitted by the journal's limit", origin: "" };
          const url = string(root.request.url) ?? "";
          const [, origin, path] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)?(.*)$/is.exec(url);
          return { method: string(root.request.method) ?? "", path: path || "/", origin: (origin ?? "").replace(/^https:\/\//, "") };
        }

        // ---- Search and filters. Each text is in the data once, so a search looks at each once.
        const kinds = {
          All: () => true,
          Failed: (call) => call.state === "failed" || call.root?.response?.status >= 400,
          Resent: (call) => call.attempts.length > 1,
          "Not sent": (call) => call.attempts.length === 0 && !call.omitted && (call.state === "done" || call.state === "failed"),
          Running: (call) => call.state === "running",
        };
        let found = calls, kind = "All", active = -1, lowercase;

        function filter() {
          const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
          if (words.length) lowercase ??= data.strings.map((text) => text.toLowerCase());
          const hits = words.map((word) => {
            const texts = new Set();
            lowercase.forEach((text, index) => { if (text.includes(word)) texts.add(index); });
            return { word, texts };
          });
          const matches = (call, { word, texts }) => "#" + call.id === word
            || String(call.root?.response?.status ?? "") === word || [...call.texts].some((text) => texts.has(text));
          const selected = found[active];
          found = calls.filter((call) => kinds[kind](call) && hits.every((hit) => matches(call, hit)));
          active = found.indexOf(selected);
          byId("count").textContent = found.length === calls.length ? plural(calls.length, "call") : number(found.length) + " of " + plural(calls.length, "call");
          list.scrollTop = active < 0 ? 0 : Math.max(0, active * rowHeight - list.clientHeight / 2);
          render();
        }

        /// A call's status; a cross says that the caller got an error, such as one for the status.
        function outcome({ root, attempts }) {
          if (!root) return "?";
          const status = root.e && !root.e.cancelled ? attempts.at(-1)?.response?.status : undefined;
          return status ? status + " ✕" : result(root);
        }

        // ---- The list, which holds only the rows that are in sight.
        const track = (start, end, parts) => el("div", { class: "track", "aria-hidden": "true" }, parts.map((part) => {
          const bar = el("i", { class: part.class });
          const scale = 100 / Math.max(1, end - start);
          bar.style.insetInlineStart = Math.min(99, (part.start - start) * scale) + "%";
          bar.style.width = Math.min(100, part.length * scale) + "%";
          return bar;
        }));
        const attemptBar = (step, offset) => ({ class: "sent" + (colour(step) === "bad" ? " failed" : ""), start: offset + step.s, length: step.d ?? 0 });

        function row(call, index, start, end) {
          const { method, path, origin } = call.summary;
          const root = call.root ?? {};
          const words = [method, path, origin, root.e ? failure(root.e) : outcome(call), time(root.d), call.attempts.length === 1 ? "" : plural(call.attempts.length, "attempt")];
          const extra = call.attempts.length > 1 ? plural(call.attempts.length, "attempt") : kinds["Not sent"](call) ? "not sent" : "";
          const bars = [{ class: "", start: call.at, length: root.d ?? 0 }, ...call.attempts.map((step) => attemptBar(step, call.at))];
          const element = el("div", {
            class: index % 2 ? "call" : "call even", role: "option", id: "call-" + index, "aria-setsize": found.length, "aria-posinset": index + 1,
            "aria-selected": index === active, "aria-label": shown(words.filter(Boolean).join(", ")),
          },
            el("span", { class: "status " + colour(root) }, outcome(call)),
            el("div", { class: "what" },
              el("div", {}, el("span", { class: "method" }, method), path),
              el("div", { class: "dim" }, [extra, call.parent ? "for #" + call.parent : "", origin].filter(Boolean).join(" · ") || " ")),
            el("span", { class: "time" }, call.root ? time(root.d) : ""),
            track(start, end, bars));
          element.style.top = index * rowHeight + "px";
          element.addEventListener("click", () => { pick(index); open(false); });
          return element;
        }

        function render() {
          const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 2);
          const last = Math.min(found.length, Math.ceil((list.scrollTop + list.clientHeight) / rowHeight) + 2);
          const visible = found.slice(first, last);
          const start = Math.min(...visible.map((call) => call.at)), end = Math.max(...visible.map((call) => call.end));
          byId("scale").textContent = visible.length ? clock(start).slice(0, 10) + " + " + time(end - start) : "";
          const rest = el("div", { "aria-hidden": "true", role: "presentation" });
          rest.style.height = found.length * rowHeight + "px";
          const message = calls.length ? "No call matches." : "The journal holds no calls.";
          list.replaceChildren(...(found.length ? [rest] : [el("p", { class: "empty" }, message)]), ...visible.map((call, index) => row(call, first + index, start, end)));
          if (active >= first && active < last) list.setAttribute("aria-activedescendant", "call-" + active);
          else list.removeAttribute("aria-activedescendant");
        }

        function pick(index) {
          if (!found.length) return;
          active = Math.max(0, Math.min(found.length - 1, index));
          const top = active * rowHeight;
          if (top < list.scrollTop) list.scrollTop = top;
          if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
          render();
          show(found[active]);
        }
        function open(movesFocus) {
          document.body.classList.add("open");
          if (movesFocus) (detail.querySelector("[role=treeitem]") ?? detail).focus();
        }
        function close() {
          document.body.classList.remove("open");
          render();
          list.focus();
        }

        // ---- One call.
        function show(call) {
          const { root, at } = call;
          const back = el("button", { id: "back" }, "‹ All calls");
          back.addEventListener("click", close);
          const parts = [back, el("h2", {}, [call.summary.method, string(root?.request.url) ?? "The call didn't fit into the journal."].join(" "))];
          const facts = el("div", { class: "dim" }, el("span", { class: colour(root ?? {}) }, outcome(call)),
            " · " + [time(root?.d), plural(call.attempts.length, "attempt"), clock(at) + " UTC", "call #" + call.id].join(" · "));
          if (call.parent) facts.append(" · made for ", jump(call.parent));
          if (call.omitted) facts.append(" · " + plural(call.omitted, "part") + " omitted by the journal's limit");
          parts.push(facts);
          if (root) {
            const tree = el("div", { role: "tree", id: "tree", class: "mono", "aria-label": "Steps of the call" });
            const message = el("div", { id: "message" });
            const items = [];
            (function add(step, level, run) {
              items.push({ step, element: treeItem(step, level, run, call) });
              const runs = step.c ?? [];
              runs.forEach((below, index) => add(below, level + (runs.length > 1 ? 1 : 0), runs.length > 1 ? index + 1 : 0));
            })(root, 1, 0);
            const select = (index, movesFocus) => {
              const chosen = items[Math.max(0, Math.min(items.length - 1, index))];
              for (const { element } of items) {
                element.setAttribute("aria-selected", element === chosen.element);
                element.tabIndex = element === chosen.element ? 0 : -1;
              }
              if (movesFocus) chosen.element.focus();
              message.replaceChildren(...messages(chosen.step));
            };
            items.forEach(({ element }, index) => element.addEventListener("click", (event) => { if (event.target.tagName !== "BUTTON") select(index, true); }));
            tree.addEventListener("keydown", (event) => {
              const now = items.findIndex(({ element }) => element === document.activeElement);
              const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: items.length - 1 }[event.key];
              if (next === undefined || now < 0) return;
              event.preventDefault();
              select(next, true);
            });
            tree.append(...items.map(({ element }) => element));
            select(0, false);
            parts.push(el("h3", {}, "Steps, outermost first", el("span", {}, "own time")), tree, message);
          }
          detail.replaceChildren(...parts);
          detail.scrollTop = 0;
        }

        function jump(id) {
          const target = callWithId.get(id);
          if (!target) return "call #" + id;
          const button = el("button", {}, "call #" + id);
          button.addEventListener("click", () => {
            if (!found.includes(target)) { search.value = ""; filters.querySelector("input").click(); filter(); }
            pick(found.indexOf(target));
            open(true);
          });
          return button;
        }

        /// The time of a step without the steps below, which may overlap, as those of a hedged request do.
        function ownTime(step) {
          if (step.d === undefined) return undefined;
          let covered = 0, until = step.s;
          for (const below of [...(step.c ?? [])].sort((a, b) => a.s - b.s)) {
            const end = Math.min(step.s + step.d, below.s + (below.d ?? Infinity));
            covered += Math.max(0, end - Math.max(until, below.s));
            until = Math.max(until, end);
          }
          return Math.max(0, step.d - covered);
        }

        function treeItem(step, level, run, call) {
          const own = step.t ? step.d : ownTime(step);
          const lines = [];
          const line = (kind, ...content) => lines.push(el("div", { class: kind }, content));
          for (const reason of step.k ?? []) line("", "· " + reasonText(reason), ...(reason.call ? [" ", jump(reason.call)] : []));
          const runs = step.c ?? [];
          let before;
          runs.forEach((below, index) => {
            const changed = changes(step.request, below.request);
            const text = changed.join("\n");
            if (text !== before) for (const change of changed) line("dim", "↓ " + (runs.length > 1 ? "run " + (index + 1) + ": " : "") + change);
            before = text;
          });
          const last = runs.findLast((below) => below.response)?.response;
          if (step.response && last) for (const change of changes(last, step.response)) line("dim", "↑ " + change);
          if (step.e && !(runs.at(-1)?.e && runs.at(-1).e.text === step.e.text)) line("bad", "✕ " + failure(step.e));
          if (step.w || step.v || step.a) line("dim", phases(step));
          const bars = [step.t ? attemptBar(step, 0) : { class: "", start: step.s, length: step.d ?? 0 }];
          const element = el("div", { class: "step", role: "treeitem", "aria-level": level },
            el("div", { class: "name" }, run ? el("span", { class: "dim" }, run + " ") : undefined, el("b", {}, string(step.n)), " ",
              el("span", { class: colour(step) }, step.e && !step.t ? "" : step.t || step.response !== last ? result(step) : "")),
            el("div", { class: "time", title: "Own time, without the steps below" }, time(own)),
            track(call.root.s, call.root.s + (call.root.d ?? 0), bars),
            lines.length ? el("div", { class: "lines" }, lines) : undefined);
          element.style.marginInlineStart = (level - 1) * 16 + "px";
          return element;
        }

        const reasonText = ({ what, text }) => [string(what) === "note" ? "" : string(what), string(text)].filter(Boolean).join(": ");
        const failure = (error) => string(error.type) + (error.code === undefined ? "" : "." + string(error.code)) + ": " + string(error.text);
        function phases(step) {
          const peer = [string(step.v), string(step.a)];
          if (!step.w) return peer.filter(Boolean).join(" · ");
          const [lookup, connect, tls, first, total, reused] = step.w;
          const ready = Math.max(lookup, connect, tls);
          const setup = reused ? ["reused connection"] : ["lookup " + time(lookup), "connect " + time(Math.max(0, connect - lookup)), tls ? "TLS " + time(Math.max(0, tls - connect)) : ""];
          return [...peer, ...setup, "wait " + time(Math.max(0, first - ready)), "receive " + time(Math.max(0, total - first))].filter(Boolean).join(" · ");
        }

        const bodyText = (message) => message.brief ? "only the status was kept" : message.stream ? "stream" + (message.size === undefined ? "" : ", " + bytes(message.size)) : message.size ? bytes(message.size) : "no content";
        const pairs = (message) => Array.from({ length: (message.fields ?? []).length / 2 }, (_, index) => [string(message.fields[2 * index]), string(message.fields[2 * index + 1]), message.revisions?.[index] ?? 0]);
        /// The differences between two messages, a line each.
        function changes(from, to) {
          if (from === to) return [];
          const result = [];
          const compare = (name, before, after) => { if (before !== after) result.push(name + " " + before + " → " + after); };
          compare("method", string(from.method), string(to.method));
          compare("url", string(from.url), string(to.url));
          compare("status", from.status, to.status);
          if (from.brief || to.brief) return result;
          const rest = pairs(to), removed = [];
          for (const [name, value, revision] of pairs(from)) {
            const same = rest.findIndex(([other, content, count]) => other.toLowerCase() === name.toLowerCase() && content === value && count === revision);
            if (same >= 0) rest.splice(same, 1); else removed.push([name, value]);
          }
          for (const [name, value] of rest) {
            const old = removed.findIndex(([other]) => other.toLowerCase() === name.toLowerCase());
            result.push(old < 0 ? "+ " + name + ": " + value : name + ": " + removed.splice(old, 1)[0][1] + " → " + value);
          }
          for (const [name] of removed) result.push("− " + name);
          if (from.text !== to.text || from.stream !== to.stream || from.size !== to.size || from.revision !== to.revision) compare("body", bodyText(from), bodyText(to) + (bodyText(from) === bodyText(to) ? ", changed" : ""));
          return result;
        }

        function messages(step) {
          const name = string(step.n);
          const parts = [el("h3", {}, "Request as it reached " + name), ...message(step.request, string(step.request.method) + " " + string(step.request.url))];
          if (step.e) parts.push(el("h3", {}, "Error that left " + name), el("div", { class: "mono bad" }, failure(step.e)));
          if (step.response) parts.push(el("h3", {}, "Response as it left " + name), ...message(step.response, "Status " + step.response.status));
          return parts;
        }
        function message(message, title) {
          const rows = pairs(message).map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)));
          const parts = [el("table", { class: "mono", "aria-label": shown(title) }, rows)];
          const size = el("p", { class: "dim" }, bodyText(message) + (message.cut ? ", of which the journal kept the beginning" : ""));
          parts.push(size);
          if (message.text !== undefined) {
            const isJSON = pairs(message).some(([name, value]) => name.toLowerCase() === "content-type" && /json/i.test(value));
            const text = isJSON && !message.cut ? indented(string(message.text)) : string(message.text);
            const content = el("pre", { tabindex: "0", "aria-label": "Content" }, text.slice(0, longText));
            parts.push(content);
            if (text.length > longText) {
              const more = el("button", {}, "Show all " + number(text.length) + " characters");
              more.addEventListener("click", () => { content.textContent = shown(text); more.remove(); content.focus(); });
              parts.push(el("p", {}, more));
            }
          }
          return parts;
        }
        /// JSON with line breaks. Only white space between its tokens changes, so numbers keep all their digits.
        function indented(text) {
          try { JSON.parse(text); } catch { return text; }
          let depth = 0;
          const newLine = () => "\n" + "  ".repeat(Math.min(depth, 32));
          return text.replace(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|\s+|[^\s"{}[\],:]+/g, (token) => {
            if (/^\s/.test(token)) return "";
            if (token === "{" || token === "[") { depth += 1; return token + newLine(); }
            if (token === "}" || token === "]") { depth -= 1; return newLine() + token; }
            return token === "," ? "," + newLine() : token === ":" ? ": " : token;
          });
        }

        // ---- Keys.
        list.addEventListener("keydown", (event) => {
          const page = Math.max(1, Math.floor(list.clientHeight / rowHeight) - 1);
          const next = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: found.length - 1 }[event.key];
          if (next !== undefined) { event.preventDefault(); pick(next); }
          if (event.key === "Enter") { event.preventDefault(); if (active < 0) pick(0); open(true); }
        });
        search.addEventListener("keydown", (event) => {
          if (event.key === "ArrowDown" || event.key === "Enter") { event.preventDefault(); list.focus(); pick(Math.max(0, active)); }
        });
        document.addEventListener("keydown", (event) => {
          if (event.key === "/" && !event.metaKey && !event.ctrlKey && document.activeElement !== search) { event.preventDefault(); close(); search.focus(); search.select(); }
          if (event.key !== "Escape") return;
          if (document.activeElement === search && search.value) { event.preventDefault(); search.value = ""; filter(); } else close();
        });

        // ---- Start.
        for (const name of Object.keys(kinds)) {
          const count = calls.filter(kinds[name]).length;
          if (!count && name !== "All") continue;
          const input = el("input", { type: "radio", name: "kind", value: name });
          input.checked = name === "All";
          input.addEventListener("change", () => { kind = name; filter(); });
          filters.append(el("label", {}, input, name));
        }
        byId("warning").hidden = data.isRedacted;
        search.addEventListener("input", filter);
        list.addEventListener("focus", () => { if (active < 0) pick(0); });
        list.addEventListener("scroll", () => requestAnimationFrame(render));
        addEventListener("resize", render);
        document.title = "Journal: " + plural(calls.length, "call");
        detail.append(el("p", { class: "empty" }, calls.length ? "Select a call to see its steps, fields and contents." : ""));
        filter();

        """#
}
