#!/usr/bin/env python3
"""Checks a journal's page in a headless Chromium, by its keyboard, its accessibility tree and its looks.

`check_page.py session PAGE FOLDER` takes a page of the calls that JournalSamples.session(5000) makes, and writes screenshots.
`check_page.py hostile PAGE FOLDER` takes a page whose texts all try to become code.
`check_page.py devtools HAR` opens an HTTP Archive with the importer of Chromium's own developer tools.
All print facts and durations as JSON, and exit with 1 after a failed check; 77 means that no Chromium is installed.
"""
import json
import struct
import sys
import zlib
from pathlib import Path

import chromium

CONTRAST = """(() => {
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return { r, g, b, a }; };
  const light = ({ r, g, b }) => [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, index) => sum + v * [0.2126, 0.7152, 0.0722][index], 0);
  let worst = [100, ""];
  for (const element of document.body.querySelectorAll("*")) {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || !element.checkVisibility()) continue;
    if (["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    let back = element;
    while (back && parse(getComputedStyle(back).backgroundColor).a < 1) back = back.parentElement;
    const pair = [light(parse(getComputedStyle(element).color)), light(parse(getComputedStyle(back ?? document.body).backgroundColor))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < worst[0]) worst = [ratio, element.outerHTML.slice(0, 120)];
  }
  return worst;
})()"""

IMPORTER = "devtools://devtools/bundled/models/har/har.js"

failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def shades(path):
    """The number of different bytes in a PNG's pixels. A blank picture has a few."""
    data, position, content = Path(path).read_bytes(), 8, b""
    while position < len(data):
        (length,), kind = struct.unpack(">I", data[position : position + 4]), data[position + 4 : position + 8]
        if kind == b"IDAT":
            content += data[position + 8 : position + 8 + length]
        position += 12 + length
    return len(set(zlib.decompress(content)))


def text(browser, selector):
    return browser.evaluate(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")


def look(browser, folder, name):
    """Takes a picture, and checks what holds for every view."""
    browser.screenshot(folder / f"{name}.png")
    check(shades(folder / f"{name}.png") > 40, f"{name}.png is blank.")
    contrast, element = browser.evaluate(CONTRAST)
    check(contrast >= 4.5, f"{name}: the contrast of {element} is {contrast:.2f}.")
    excess = browser.evaluate("document.documentElement.scrollWidth - innerWidth")
    check(excess <= 0, f"{name}: the page is {excess} pixels wider than the window.")


def active(browser):
    """The role, and the name or text, of the element that has the keyboard."""
    return browser.evaluate("[document.activeElement.role ?? document.activeElement.id, document.activeElement.textContent]")


def session(browser, page, folder):
    browser.appearance(1280, 800, "light")
    browser.open(page.as_uri())
    facts = {"opened": browser.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart")}
    check(text(browser, "#count") == "5,000 calls", f"The count is {text(browser, '#count')}.")
    rows = browser.evaluate("document.querySelectorAll('[role=option]').length")
    check(0 < rows < 60, f"{rows} rows are in the document.")

    # From the search to a call and back, with keys alone.
    browser.press("/")
    check(active(browser)[0] == "search", f"/ leads to {active(browser)}.")
    before = browser.evaluate("performance.now()")
    browser.type("USERS/ expired absent")
    facts["filtered"] = browser.evaluate("performance.now()") - before
    check(text(browser, "#count") == "0 of 5,000 calls", f"Three words of which one is nowhere find {text(browser, '#count')}.")
    check("No call matches." in text(browser, "#list"), "An empty list says nothing.")
    browser.press("Escape")
    browser.type("users/ expired")
    check(text(browser, "#count") == "556 of 5,000 calls", f"A word of a body finds {text(browser, '#count')}.")
    browser.press("Enter")
    check(active(browser)[0] == "listbox", f"Enter in the search leads to {active(browser)}.")
    browser.press("ArrowDown")
    selected = browser.evaluate("document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).ariaLabel")
    check(selected.startswith("GET, /v1/users/10, "), f"The second row is {selected}.")
    browser.press("Enter")
    role, step = active(browser)
    check(role == "treeitem" and step.startswith("validateStatus"), f"Enter in the list leads to {role}: {step}.")
    browser.press("End")
    check("reused connection" in active(browser)[1], f"The last step is {active(browser)}.")
    check("Authorization" in text(browser, "#message"), "The fields of the selected step aren't shown.")
    steps = text(browser, "#tree")
    for part in ("↓ + Accept-Language: en", "refresh: ", "1 bearerAuth", "2 bearerAuth", "CurlTransport 401", "CurlTransport 200"):
        check(part in steps, f"The tree lacks {part}: {steps}")
    check("12345678901234567890" in text(browser, "#message"), "A long number lost digits.")

    nodes = browser.accessible()
    for node in [("status", ""), ("listbox", "Calls"), ("tree", "Steps of the call"), ("searchbox", "Search"), ("radio", "Failed")]:
        check(node in nodes or node[1] == "" and any(role == node[0] for role, _ in nodes), f"Assistive technology gets no {node}.")
    unnamed = [role for role, name in nodes if role in ("button", "option", "treeitem", "radio", "searchbox", "listbox") and not name]
    check(not unnamed, f"Without a name: {unnamed}")

    look(browser, folder, "light-1280")
    browser.appearance(1280, 800, "dark")
    look(browser, folder, "dark-1280")
    browser.appearance(390, 800, "dark")
    look(browser, folder, "dark-390-call")
    browser.press("Escape")
    check(active(browser)[0] == "listbox", f"Escape leads to {active(browser)}.")
    browser.appearance(390, 800, "light")
    look(browser, folder, "light-390")

    # The filters, and the end of a long list.
    browser.press("/")
    browser.press("Escape")
    for kind, count in {"Failed": "324", "Resent": "834", "Not sent": "556", "Running": "51"}.items():
        browser.evaluate(f"document.querySelector('[value=\"{kind}\"]').click()")
        check(text(browser, "#count") == f"{count} of 5,000 calls", f"{kind}: {text(browser, '#count')}.")
    browser.evaluate("document.querySelector('[value=All]').click()")
    browser.appearance(1280, 800, "light")
    browser.evaluate("document.getElementById('list').focus()")
    browser.press("End")
    last = browser.evaluate("document.querySelector('[aria-selected=true]').ariaPosInSet")
    check(last == "5000", f"The last row is {last}.")
    return facts


def hostile(browser, page, folder):
    browser.appearance(1280, 800, "light")
    browser.open(page.as_uri())
    browser.evaluate("document.getElementById('list').focus()")
    # Every call, every step of it, and every content in full.
    for _ in range(browser.evaluate("document.querySelectorAll('[role=option]').length")):
        browser.press("Enter")
        browser.press("End")
        browser.evaluate("document.querySelectorAll('#message button').forEach((button) => button.click())")
        browser.press("Escape")
        browser.press("ArrowDown")
    browser.settle()
    ran = browser.evaluate("[typeof hostile, document.scripts.length, document.images.length, document.title]")
    check(ran == ["undefined", 2, 0, "Journal: 4 calls"], f"A text became code or an element: {ran}")
    shown = text(browser, "#detail")
    check("</script><script>hostile = 1</script>" in shown, f"A text isn't shown as it is: {shown[:500]}")
    raw = browser.evaluate("/[\\u0000\\u202e]/.test(document.body.innerText)")
    check(not raw, "A character that hides or turns text is in the page.")
    check(browser.evaluate("document.getElementById('warning').checkVisibility()"), "The page doesn't warn of its secrets.")
    look(browser, folder, "hostile")
    return {}


def devtools(browser, file):
    har = json.loads(file.read_bytes())
    browser.open("devtools://devtools/bundled/devtools_app.html")
    # The importer isn't a public interface. A Chromium that has it elsewhere is no failure of the archive.
    if not browser.evaluate(f"import('{IMPORTER}').then(({{ Importer, HARFormat }}) => Boolean(Importer && HARFormat), () => false)"):
        return {"imported": None}
    imported = browser.evaluate(f"""import('{IMPORTER}').then(({{ Importer, HARFormat }}) =>
        Importer.Importer.requestsFromHARLog(new HARFormat.HARRoot({json.dumps(har)}).log)
            .map((request) => [request.requestMethod, request.url(), request.statusCode, request.cached()]))""")
    entries = har["log"]["entries"]
    expected = [[entry["request"]["method"], entry["request"]["url"], entry["response"]["status"], "_fromCache" in entry]
                for entry in entries]
    check(sorted(imported) == sorted(expected), "Chromium's developer tools show something else than the archive holds.")
    return {"imported": len(imported)}


def main():
    view, page, folder = sys.argv[1], Path(sys.argv[2]), Path((sys.argv + ["."])[3])
    program = chromium.find()
    if program is None:
        print("Chromium is not installed: Scripts/test installs it (Debian: apt-get install chromium)", file=sys.stderr)
        return 77
    folder.mkdir(parents=True, exist_ok=True)
    with chromium.Browser(program) as browser:
        if view == "devtools":
            facts = devtools(browser, page)
        else:
            facts = {"session": session, "hostile": hostile}[view](browser, page, folder)
            # A violation of the content security policy is a complaint too.
            check(not browser.complaints(), f"The browser complains: {json.dumps(browser.complaints())[:1000]}")
            check(browser.requests() == [page.as_uri()], f"The page asks for {browser.requests()}.")
    print(json.dumps(facts))
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
