/// Archives in the form in which other programs write them. They are written by hand, by the programs' documentation and sources.
enum ForeignArchives {
    static let all = [chrome, firefox, playwright, replay]

    /// Chrome's developer tools: "Save all as HAR with content".
    static let chrome = #"""
        {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"},
         "pages": [{"startedDateTime": "2026-03-01T10:00:00.000Z", "id": "page_1", "title": "https://shop.example/",
                    "pageTimings": {"onContentLoad": 120.1, "onLoad": 300.2}}],
         "entries": [
          {"_connectionId": "71", "_initiator": {"type": "script"}, "_priority": "High", "_resourceType": "fetch", "cache": {},
           "connection": "443", "pageref": "page_1",
           "request": {"method": "GET", "url": "https://api.example.com/users/42?fields=a%2Cb", "httpVersion": "http/2.0",
            "headers": [{"name": ":authority", "value": "api.example.com"}, {"name": ":method", "value": "GET"},
             {"name": ":path", "value": "/users/42?fields=a%2Cb"}, {"name": ":scheme", "value": "https"},
             {"name": "accept", "value": "application/json"}, {"name": "accept-encoding", "value": "gzip, deflate, br, zstd"}],
            "queryString": [{"name": "fields", "value": "a%2Cb"}], "cookies": [], "headersSize": -1, "bodySize": 0},
           "response": {"status": 200, "statusText": "", "httpVersion": "http/2.0",
            "headers": [{"name": "content-encoding", "value": "br"}, {"name": "content-length", "value": "19"},
             {"name": "content-type", "value": "application/json"}, {"name": "set-cookie", "value": "a=1; Path=/\nb=2"}],
            "cookies": [], "content": {"size": 23, "mimeType": "application/json", "compression": 4,
             "text": "{\"id\":42,\"name\":\"Åda\"}"},
            "redirectURL": "", "headersSize": -1, "bodySize": -1, "_transferSize": 210, "_error": null,
            "_fetchedViaServiceWorker": false},
           "serverIPAddress": "192.0.2.7", "startedDateTime": "2026-03-01T10:00:00.123Z", "time": 45.70000000309944,
           "timings": {"blocked": 3.1, "dns": -1, "ssl": -1, "connect": -1, "send": 0.2, "wait": 40.5,
            "receive": 1.9000000030994415, "_blocked_queueing": 2.2, "_workerStart": -1}},
          {"_resourceType": "image", "cache": {}, "request": {"method": "GET", "url": "http://shop.example/dot.png",
            "httpVersion": "http/1.1", "headers": [{"name": "Host", "value": "shop.example"}], "queryString": [], "cookies": [],
            "headersSize": 300, "bodySize": 0},
           "response": {"status": 200, "statusText": "OK", "httpVersion": "http/1.1",
            "headers": [{"name": "Connection", "value": "keep-alive"}, {"name": "Transfer-Encoding", "value": "chunked"},
             {"name": "Content-Type", "value": "image/png"}],
            "cookies": [], "content": {"size": 4, "mimeType": "image/png", "text": "iVBORw==", "encoding": "base64"},
            "redirectURL": "", "headersSize": 200, "bodySize": 4, "_transferSize": 204, "_error": null},
           "startedDateTime": "2026-03-01T10:00:01.000Z", "time": 1, "timings": {"send": 0, "wait": 1, "receive": 0}},
          {"_resourceType": "fetch", "cache": {}, "request": {"method": "POST", "url": "https://api.example.com/orders",
            "httpVersion": "", "headers": [{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}],
            "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 13,
            "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "a=1&note=b%20c",
             "params": [{"name": "a", "value": "1"}, {"name": "note", "value": "b%20c"}]}},
           "response": {"status": 0, "statusText": "", "httpVersion": "", "headers": [], "cookies": [],
            "content": {"size": 0, "mimeType": "x-unknown"}, "redirectURL": "", "headersSize": -1, "bodySize": -1,
            "_transferSize": 0, "_error": "net::ERR_CONNECTION_REFUSED"},
           "startedDateTime": "2026-03-01T10:00:02.000Z", "time": 2.5,
           "timings": {"blocked": 2.5, "dns": -1, "ssl": -1, "connect": -1, "send": 0, "wait": 0, "receive": 0}},
          {"_resourceType": "fetch", "cache": {}, "request": {"method": "GET", "url": "https://api.example.com/left",
            "httpVersion": "", "headers": [], "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0},
           "response": {"status": 0, "statusText": "", "httpVersion": "", "headers": [], "cookies": [],
            "content": {"size": 0, "mimeType": "x-unknown"}, "redirectURL": "", "headersSize": -1, "bodySize": -1,
            "_transferSize": 0, "_error": "net::ERR_ABORTED"},
           "startedDateTime": "2026-03-01T10:00:02.000Z", "time": 2, "timings": {"send": 0, "wait": 0, "receive": 0}},
          {"_resourceType": "image", "cache": {}, "request": {"method": "GET", "url": "data:image/gif;base64,R0lGODlhAQ",
            "httpVersion": "", "headers": [], "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0},
           "response": {"status": 200, "statusText": "OK", "httpVersion": "", "headers": [], "cookies": [],
            "content": {"size": 6, "mimeType": "image/gif"}, "redirectURL": "", "headersSize": -1, "bodySize": -1},
           "startedDateTime": "2026-03-01T10:00:02.000Z", "time": 2, "timings": {"send": 0, "wait": 0, "receive": 0}},
          {"_resourceType": "websocket", "_webSocketMessages": [{"type": "send", "time": 1.5, "opcode": 1, "data": "hi"}],
           "cache": {}, "request": {"method": "GET", "url": "wss://api.example.com/live", "httpVersion": "", "headers": [],
            "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0},
           "response": {"status": 101, "statusText": "Switching Protocols", "httpVersion": "", "headers": [], "cookies": [],
            "content": {"size": 0, "mimeType": "x-unknown"}, "redirectURL": "", "headersSize": -1, "bodySize": -1},
           "startedDateTime": "2026-03-01T10:00:02.000Z", "time": 2, "timings": {"send": 0, "wait": 0, "receive": 0}}
         ]}}
        """#

    /// Firefox's developer tools: "Save All As HAR". Times have an offset, and content that was too long is missing.
    static let firefox = #"""
        {"log": {"version": "1.2", "creator": {"name": "Firefox", "version": "128.0"},
         "browser": {"name": "Firefox", "version": "128.0"}, "pages": [],
         "entries": [
          {"startedDateTime": "2026-03-01T12:30:00.5+01:30",
           "request": {"bodySize": 0, "method": "GET", "url": "https://www.example.com/caf%C3%A9", "httpVersion": "HTTP/1.1",
            "headers": [{"name": "Host", "value": "www.example.com"}], "cookies": [], "queryString": [], "headersSize": 380},
           "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1",
            "headers": [{"name": "Content-Type", "value": "text/html; charset=ISO-8859-1"},
             {"name": "Content-Encoding", "value": "gzip"}, {"name": "Content-Length", "value": "1000"}],
            "cookies": [], "content": {"mimeType": "text/html; charset=ISO-8859-1", "size": 4, "text": "café"},
            "redirectURL": "", "headersSize": 200, "bodySize": 1200},
           "cache": {}, "timings": {"blocked": 1, "dns": 2, "connect": 10, "ssl": 7, "send": 0, "wait": 20, "receive": 3},
           "time": 36, "_securityState": "secure", "serverIPAddress": "192.0.2.1", "connection": "443"},
          {"startedDateTime": "2026-03-01T11:00:01+0000",
           "request": {"bodySize": 2, "method": "POST", "url": "https://www.example.com/long", "httpVersion": "HTTP/2",
            "headers": [], "cookies": [], "queryString": [], "headersSize": 380,
            "postData": {"mimeType": "application/json", "params": [], "text": "{}"}},
           "response": {"status": 200, "statusText": "", "httpVersion": "HTTP/2", "headers": [], "cookies": [],
            "content": {"mimeType": "video/mp4", "size": 90000000, "comment": "Response bodies are not included"},
            "redirectURL": "", "headersSize": 200, "bodySize": 90000200},
           "cache": {}, "timings": {"blocked": 0, "dns": 0, "connect": 0, "ssl": 0, "send": 0, "wait": 5, "receive": 0},
           "time": 5},
          {"startedDateTime": "2026-03-01T11:00:02.000+00:00",
           "request": {"bodySize": 0, "method": "GET", "url": "https://gone.example.com/", "httpVersion": "", "headers": [],
            "cookies": [], "queryString": [], "headersSize": 0},
           "response": {"status": 0, "statusText": "", "httpVersion": "", "headers": [], "cookies": [],
            "content": {"mimeType": "text/plain", "size": 0, "text": ""}, "redirectURL": "", "headersSize": -1, "bodySize": -1},
           "cache": {}, "timings": {}, "time": 0}
         ]}}
        """#

    /// Playwright's `recordHar` with attached content. `-1` stands for no response.
    static let playwright = #"""
        {"log": {"version": "1.2", "creator": {"name": "Playwright", "version": "1.49.0"},
         "browser": {"name": "chromium", "version": "131.0"},
         "entries": [
          {"startedDateTime": "2026-03-01T10:00:00.000Z", "time": 12.5,
           "request": {"method": "GET", "url": "https://api.example.com/list", "httpVersion": "HTTP/2.0", "cookies": [],
            "headers": [{"name": "accept", "value": "*/*"}], "queryString": [], "headersSize": -1, "bodySize": -1},
           "response": {"status": 200, "statusText": "", "httpVersion": "HTTP/2.0", "cookies": [],
            "headers": [{"name": "content-type", "value": "application/json"}, {"name": "content-encoding", "value": "gzip"}],
            "content": {"size": 9, "mimeType": "application/json", "compression": 0, "_file": "0a1b2c.json"},
            "headersSize": -1, "bodySize": -1, "redirectURL": "", "_transferSize": -1},
           "cache": {}, "timings": {"send": -1, "wait": 12.5, "receive": -1}, "_securityDetails": {}},
          {"startedDateTime": "2026-03-01T10:00:01.000Z", "time": -1,
           "request": {"method": "POST", "url": "https://api.example.com/up", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": [], "queryString": [], "headersSize": -1, "bodySize": 3,
            "postData": {"mimeType": "application/octet-stream", "params": [], "_file": "3d4e.bin"}},
           "response": {"status": -1, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
            "content": {"size": -1, "mimeType": "x-unknown"}, "headersSize": -1, "bodySize": -1, "redirectURL": "",
            "_transferSize": -1, "_failureText": "net::ERR_TIMED_OUT"},
           "cache": {}, "timings": {"send": -1, "wait": -1, "receive": -1}}
         ]}}
        """#

    /// Replay for Swift: HAR 1.2 and nothing else, with dates of Foundation's encoder.
    static let replay = #"""
        {
          "log" : {
            "creator" : { "name" : "Replay", "version" : "1.0" },
            "entries" : [
              {
                "cache" : { },
                "request" : {
                  "bodySize" : 0, "cookies" : [ ], "headers" : [ { "name" : "Accept", "value" : "application\/json" } ],
                  "headersSize" : -1, "httpVersion" : "HTTP\/1.1", "method" : "GET", "queryString" : [ ],
                  "url" : "https:\/\/api.example.com\/repos"
                },
                "response" : {
                  "bodySize" : 2, "content" : { "mimeType" : "application\/json", "size" : 2, "text" : "[]" },
                  "cookies" : [ ], "headers" : [ { "name" : "Content-Type", "value" : "application\/json" } ],
                  "headersSize" : -1, "httpVersion" : "HTTP\/1.1", "redirectURL" : "", "status" : 200, "statusText" : "no error"
                },
                "startedDateTime" : "2026-03-01T10:00:00Z",
                "time" : 120,
                "timings" : { "receive" : 0, "send" : 0, "wait" : 120 }
              }
            ],
            "version" : "1.2"
          }
        }
        """#
}
