#!/usr/bin/env python3
"""Checks HTTP Archives: the JSON schema beside this file, the rules that no schema can express, and haralyzer, another library's
parser.

`check_har.py FILE…` prints what haralyzer read from each file, as JSON on a line, and exits with 1 after a failed check. A
folder stands for the archives in it, in the order of their names.
`check_har.py --tools` exits with 0 if the libraries are installed. `Scripts/test` installs them into .build/har-tools.
"""
import json
import math
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / ".build/har-tools"))
try:
    import haralyzer
    import jsonschema
except ImportError as error:
    print(f"{error}: Scripts/test installs it (pip install haralyzer jsonschema)", file=sys.stderr)
    sys.exit(77)


def failures(har, schema):
    """Sentences about what is wrong with an archive."""
    for error in schema.iter_errors(har):
        yield f"{error.json_path}: {error.message[:300]}"
        return
    log = har["log"]
    pages = [page["id"] for page in log.get("pages", [])]
    if len(pages) != len(set(pages)):
        yield "Two pages have one id."
    for index, entry in enumerate(log["entries"]):
        # A recording has no pages, and HAR lets its entries name none.
        if entry.get("pageref") not in (pages or [None]):
            yield f"Entry {index} names the page {entry.get('pageref')}, which isn't there."
        timings = entry["timings"]
        # `connect` includes `ssl`.
        parts = [timings.get(name, -1) for name in ("blocked", "dns", "connect", "send", "wait", "receive")]
        if not math.isclose(sum(part for part in parts if part != -1), entry["time"], abs_tol=1e-6):
            yield f"Entry {index}: the timings {timings} don't add up to {entry['time']}."
        if timings.get("ssl", -1) > timings.get("connect", -1):
            yield f"Entry {index}: `ssl` is more than `connect`, which includes it."


def facts(har):
    """What haralyzer reads from an archive."""
    parser = haralyzer.HarParser(har)
    entries = [entry for page in parser.pages for entry in page.entries]
    return {
        "pages": len(parser.pages),
        "entries": len(entries),
        "urls": [entry.url for entry in entries],
        "methods": [entry.request.method for entry in entries],
        "statuses": [entry.status for entry in entries],
        "headers": sum(len(entry.request.headers) + len(entry.response.headers) for entry in entries),
        "time": sum(entry.time for entry in entries),
        "started": [entry.startTime.isoformat() for entry in entries[:3]],
    }


def inlined(schema, definitions):
    """A schema without references, which jsonschema checks several times faster. No definition refers to itself."""
    if isinstance(schema, list):
        return [inlined(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return inlined(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    return {key: inlined(part, definitions) for key, part in schema.items() if key != "$defs"}


def archives(paths):
    """The files that the arguments name."""
    for path in map(Path, paths):
        yield from sorted(path.glob("*.har")) if path.is_dir() else [path]


def main():
    if sys.argv[1:] == ["--tools"]:
        return 0
    schema = json.loads((HERE / "har.schema.json").read_text())
    schema = jsonschema.Draft202012Validator(inlined(schema, schema["$defs"]))
    failed = False
    for file in archives(sys.argv[1:]):
        har = json.loads(file.read_bytes())
        for failure in failures(har, schema):
            print(f"{file}: {failure}", file=sys.stderr)
            failed = True
        print(json.dumps(facts(har)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
