#!/usr/bin/env python3
"""Serves server-sent events and JSON lines with Python's standard library, for a test.

`event_server.py` listens on the socket that it gets as standard input.

- `/events` sends the events after `Last-Event-ID`, up to COUNT, in chunks of a few bytes and with every line ending. Each
  connection breaks in the middle of an event after BREAK events. After the last event it answers 204.
- `/events/whole` sends all events and ends.
- `/rows` sends JSON lines, with their number in a trailer field.
"""
import json
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COUNT, BREAK = 300, 100


def event(number):
    """The bytes of an event. The line ending and the length of the text depend on the number."""
    end = ["\n", "\r\n", "\r"][number % 3]
    lines = [f": comment {number}", f"id: {number}", f"data: é€😀 {number}", "data:" + "x" * (number % 17), "", ""]
    return end.join(lines).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, content_type, **fields):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()

    def chunks(self, content, size):
        for start in range(0, len(content), size):
            piece = content[start : start + size]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    def send_events(self, first, last, is_cut):
        self.head("text/event-stream; charset=utf-8")
        for number in range(first, last + 1):
            self.chunks(event(number), 1 + number % 7)
        if is_cut:
            self.chunks(event(last + 1)[:-3], 5)
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def send_rows(self):
        self.head("application/x-ndjson", Trailer="Row-Count")
        rows = "".join(json.dumps({"id": number, "title": f"é {number}"}) + "\n" for number in range(1000))
        self.chunks(rows.encode(), 311)
        self.wfile.write(b"0\r\nRow-Count: 1000\r\n\r\n")

    def do_GET(self):
        last = int(self.headers.get("Last-Event-ID", "0"))
        if self.path == "/events" and last < COUNT:
            end = min(last + BREAK, COUNT)
            self.send_events(last + 1, end, is_cut=end < COUNT)
        elif self.path == "/events":
            self.send_response(204)
            self.end_headers()
        elif self.path == "/events/whole":
            self.send_events(1, COUNT, is_cut=False)
        elif self.path == "/rows":
            self.send_rows()
        else:
            self.send_error(404)


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = socket.socket(fileno=0)
    server.serve_forever()


if __name__ == "__main__":
    main()
