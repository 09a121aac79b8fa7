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
  // The first elements show every kind. Asking for the style of one out of sight lays it out.
  for (const element of [...document.body.querySelectorAll("*")].slice(0, 500)) {
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


def session(browser, page, folder):
    browser.appearance(1280, 800, "light")
    browser.open(page.as_uri())
    facts = {"opened": browser.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart")}
    calls = browser.evaluate("document.querySelectorAll('.call').length")
    check(calls == 5000, f"The page has {calls} calls.")

    # From the top to the parts of a call, with keys alone.
    browser.press("Tab")
    browser.press("Enter")
    check(browser.evaluate("document.activeElement.parentElement === document.querySelector('details[open]')"), "Enter opens no call.")
    browser.press("Tab")
    browser.press("Enter")
    check(browser.evaluate("document.querySelector('details[open] details[open] pre')?.checkVisibility()"), "Enter opens no message.")

    nodes = browser.accessible()
    unnamed = [role for role, name in nodes if role in ("DisclosureTriangle", "button", "heading") and not name]
    check(not unnamed, f"Without a name: {unnamed}")
    check(("heading", "Journal: 5,000 calls".replace(",", "")) in nodes, "Assistive technology gets no heading.")

    look(browser, folder, "light-1280")
    browser.appearance(1280, 800, "dark")
    look(browser, folder, "dark-1280")
    browser.appearance(390, 800, "light")
    look(browser, folder, "light-390")
    return facts


def hostile(browser, page, folder):
    browser.appearance(1280, 800, "light")
    browser.open(page.as_uri())
    browser.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    browser.settle()
    ran = browser.evaluate("[typeof hostile, document.scripts.length, document.images.length, document.title]")
    check(ran == ["undefined", 0, 0, "Journal: 4 calls"], f"A text became code or an element: {ran}")
    shown = text(browser, "body")
    check("</script><script>hostile = 1</script>" in shown, f"A text isn't shown as it is: {shown[:500]}")
    raw = browser.evaluate("/[\\u0000\\u202e]/.test(document.body.innerText)")
    check(not raw, "A character that hides or turns text is in the page.")
    check(browser.evaluate("document.querySelector('.warning').checkVisibility()"), "The page doesn't warn of its secrets.")
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
