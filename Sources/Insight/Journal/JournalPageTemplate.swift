internal import Interceptors

/// The style and the elements of a journal's page. The script is in `JournalPageScript.swift`; `JournalPage` puts all of them
/// together with the calls.
enum JournalPageTemplate {
    static let style = #"""

        :root {
          color-scheme: light dark;
          --back: #fff; --raised: #f5f5f7; --line: #d9d9de; --text: #1c1c1f; --dim: #5f5f68; --bar: #c9d4ea;
          --accent: #1f57b8; --picked: #e4ecfa; --good: #1a6b34; --odd: #8a5300; --bad: #b3261e;
          --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --back: #161618; --raised: #212124; --line: #3b3b41; --text: #ececf0; --dim: #a5a5b0; --bar: #3a4a68;
            --accent: #8ab4f8; --picked: #26344f; --good: #7bd196; --odd: #f0b860; --bad: #ff9d94;
          }
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        html, body { height: 100%; margin: 0; }
        body {
          display: flex; flex-direction: column; background: var(--back); color: var(--text);
          font: 14px/1.45 system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif;
        }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
        h1 { font-size: 17px; margin: 0; }
        h2 { font-size: 16px; line-height: 1.35; margin: 0 0 6px; overflow-wrap: anywhere; max-height: 6.8em; overflow-y: auto; }
        h3 { display: flex; justify-content: space-between; gap: 12px; font-size: 12px; margin: 28px 0 8px; color: var(--dim); }
        h3 span { font-weight: 400; padding-inline-end: 112px; }
        button, input { font: inherit; color: inherit; }
        button { background: none; border: 0; padding: 0; color: var(--accent); cursor: pointer; text-decoration: underline; }
        ::placeholder { color: var(--dim); opacity: 1; }
        .mono, pre { font-family: var(--mono); font-size: 12.5px; }
        .dim { color: var(--dim); }
        .good { color: var(--good); } .odd { color: var(--odd); } .bad { color: var(--bad); }

        header { display: flex; flex-wrap: wrap; gap: 10px 16px; align-items: center; padding: 12px 20px; }
        header, .warning { border-bottom: 1px solid var(--line); }
        #search {
          flex: 1 1 240px; min-width: 0; padding: 6px 12px; border: 1px solid var(--dim); border-radius: 8px;
          background: var(--back);
        }
        fieldset { display: flex; flex-wrap: wrap; gap: 4px; border: 0; margin: 0; padding: 0; }
        fieldset label { padding: 5px 12px; border-radius: 8px; cursor: pointer; color: var(--dim); }
        fieldset label:has(:checked) { background: var(--picked); color: var(--text); }
        fieldset label:has(:focus-visible) { outline: 2px solid var(--accent); }
        fieldset input { position: absolute; opacity: 0; pointer-events: none; }
        #count { color: var(--dim); min-width: 9em; text-align: end; font-variant-numeric: tabular-nums; }
        .warning { margin: 0; padding: 10px 20px; color: var(--bad); font-weight: 600; }

        main { flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(0, 9fr) minmax(0, 11fr); }
        .pane { min-height: 0; min-width: 0; }
        #calls { display: flex; flex-direction: column; border-inline-end: 1px solid var(--line); }
        .columns, .call { display: grid; grid-template-columns: 52px minmax(0, 1fr) 66px 132px; gap: 12px; align-items: center; }
        .columns { padding: 8px 20px; font-size: 12px; overflow: hidden; color: var(--dim); border-bottom: 1px solid var(--line); }
        .columns :nth-child(3), .call .time { text-align: end; }
        #list { flex: 1; overflow-y: auto; position: relative; }
        .columns, #list { scrollbar-gutter: stable; scrollbar-width: thin; }
        #list:focus-visible:has([aria-selected=true]) { outline: none; }
        #list:focus-visible .call[aria-selected=true] { outline: 2px solid var(--accent); outline-offset: -2px; }
        .call { position: absolute; inset-inline: 0; height: 48px; padding: 0 20px; cursor: default; }
        .call.even { background: var(--raised); }
        .call[aria-selected=true] { background: var(--picked); box-shadow: inset 3px 0 var(--accent); }
        .call .status { font: 600 13px/1 var(--mono); }
        .call .what > div { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
        .call .what .dim { font-size: 12px; }
        .call .method { font: 600 12px/1 var(--mono); margin-inline-end: 6px; }
        .time { font-size: 12.5px; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .empty { padding: 48px 20px; text-align: center; color: var(--dim); }

        .track { position: relative; height: 12px; }
        .track i { position: absolute; top: 4px; height: 4px; min-width: 2px; border-radius: 2px; background: var(--bar); }
        .track i.sent { top: 1px; height: 10px; background: var(--accent); }
        .track i.failed { background: var(--bad); }

        #detail { overflow: auto; padding: 20px 24px 64px; }
        #back { display: none; margin-bottom: 16px; }
        #tree { margin: 0 -8px; }
        .step { position: relative; display: grid; grid-template-columns: minmax(0, 1fr) 64px 100px; gap: 2px 12px; padding: 5px 8px; border-radius: 6px; }
        .step[aria-selected=true] { background: var(--picked); }
        .step .name { overflow-wrap: anywhere; }
        .step .name b { font-weight: 600; }
        .step .lines { grid-column: 1 / -1; padding-inline-start: 20px; overflow-wrap: anywhere; white-space: pre-wrap; }
        .step .track { margin-top: 3px; }
        .step .time { text-align: end; color: var(--dim); }
        table { border-collapse: collapse; width: 100%; table-layout: fixed; }
        th, td { text-align: start; vertical-align: top; padding: 3px 0; overflow-wrap: anywhere; font-weight: 400; border-top: 1px solid var(--line); }
        th { width: 34%; padding-inline-end: 16px; color: var(--dim); }
        pre {
          margin: 10px 0 0; padding: 12px 14px; background: var(--raised); border-radius: 8px; max-height: 480px; overflow: auto;
          white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2;
        }
        @media (max-width: 800px) {
          header { padding: 12px 16px; }
          #count { text-align: start; }
          main { display: block; }
          .pane { height: 100%; }
          .columns { display: none; }
          fieldset label { padding: 5px 8px; }
          .call { padding: 0 16px; grid-template-columns: 40px minmax(0, 1fr) 62px 56px; gap: 8px; }
          .step { grid-template-columns: minmax(0, 1fr) 62px 56px; }
          h3 span { padding-inline-end: 68px; }
          #detail { display: none; padding: 16px 16px 64px; }
          #back { display: inline-block; }
          .open #detail { display: block; }
          .open #calls, .open header { display: none; }
        }

        """#

    static let body = #"""
        <p class="warning" id="warning" role="alert" hidden>Redaction was switched off. This file may contain passwords, tokens and personal data.</p>
        <header>
          <h1>Journal</h1>
          <input id="search" type="search" placeholder="Search URLs, fields, notes, bodies  ( / )" aria-label="Search" autocomplete="off" spellcheck="false">
          <fieldset id="filters"><legend hidden>Show</legend></fieldset>
          <div id="count" role="status"></div>
        </header>
        <main>
          <section class="pane" id="calls" aria-label="Calls">
            <div class="columns" aria-hidden="true"><span>Status</span><span>Call</span><span>Time</span><span id="scale"></span></div>
            <div id="list" role="listbox" tabindex="0" aria-label="Calls"></div>
          </section>
          <section class="pane" id="detail" aria-label="The selected call" tabindex="-1"></section>
        </main>
        """#
}
