internal import Foundation
internal import InterceptorsSyntax

/// A journal's calls as one HTML file without a script, which needs no network.
///
/// A content security policy allows this page's own style by its digest, so that nothing can run or load, whatever a body or a URL
/// contains.
struct JournalPage {
    let calls: [JournalCall]
    /// Whether the calls hold redacted text; if they don't, the page says so.
    let isRedacted: Bool

    private static let style = """
        :root { color-scheme: light dark; }
        body { background: Canvas; color: CanvasText; font: 14px/1.5 system-ui, sans-serif; max-width: 1200px; margin: 24px auto; padding: 0 16px; }
        h1 { font-size: 18px; }
        .warning { font-weight: 600; }
        details { content-visibility: auto; contain-intrinsic-height: auto 33px; border-top: 1px solid #8886; }
        details details { border: 0; margin-inline-start: 16px; }
        summary { padding: 5px 0; cursor: pointer; overflow-wrap: anywhere; }
        pre, .call > summary { font: 12.5px/1.5 ui-monospace, Menlo, Consolas, monospace; }
        .failed > summary::before { content: "✕ "; }
        pre { margin: 4px 0 16px 16px; white-space: pre-wrap; overflow-wrap: anywhere; }
        """

    var data: Data {
        let source = "'sha256-\(Data(PortableSHA256.digest([UInt8](Self.style.utf8))).base64EncodedString())'"
        let title = "Journal: \(calls.count) \(calls.count == 1 ? "call" : "calls")"
        let page = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src \(source); base-uri 'none'; form-action 'none'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <h1>\(title)</h1>
            \(isRedacted ? "" : "<p class=\"warning\" role=\"alert\">\(HARFile.warning)</p>")
            \(calls.map(Self.section).joined(separator: "\n"))
            </body>
            </html>

            """
        return Data(page.utf8)
    }

    /// A call: its steps, what the app got, and what went over the wire. Each body is shown once.
    private static func section(_ call: JournalCall) -> String {
        var page = "<pre>\(escaped(call.explained))</pre>"
        var places: [JournalCall.Body: String] = [:]
        let attempts = call.attempts.enumerated().map { ("Attempt \($0 + 1)", $1) }
        for (title, step) in (call.root.map { [("The call", $0)] } ?? []) + attempts {
            let texts = [
                text(of: step.request, in: title, &places), step.error,
                step.response.map { text(of: $0, in: title, &places) },
            ]
            page += details(title, texts.compactMap { $0.map { "<pre>\(escaped($0))</pre>" } }.joined())
        }
        let failed = call.root?.error != nil || (call.root?.response?.status ?? 0) >= 400
        return details(call.headline, page, kind: failed ? "call failed" : "call")
    }

    /// - Parameter places: the titles under which the call's bodies are shown.
    private static func text(
        of message: JournalCall.Message,
        in title: String,
        _ places: inout [JournalCall.Body: String]
    ) -> String {
        let start = message.method.map { "\($0) \(message.url ?? "")" } ?? message.statusLine
        let head = start + message.fields.map { "\n\($0.name.rawName): \($0.value)" }.joined()
        guard let text = message.body.text else { return head }
        // Bodies that begin alike may differ after the cut.
        if message.body.isCut { return "\(head)\n\n\(text)…" }
        if let place = places[message.body] { return "\(head)\n\n(shown in “\(place)”)" }
        places[message.body] = title
        return "\(head)\n\n\(text)"
    }

    private static func details(_ summary: String, _ content: String, kind: String = "messages") -> String {
        "<details class=\"\(kind)\"><summary>\(escaped(summary))</summary>\(content)</details>"
    }

    /// Text that a browser shows as it is. Characters that would be invisible, or turn the text around them, become their numbers.
    private static func escaped(_ text: String) -> String {
        var html = ""
        for scalar in PrintableText.lines(text).unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            default: html.unicodeScalars.append(scalar)
            }
        }
        return html
    }
}
