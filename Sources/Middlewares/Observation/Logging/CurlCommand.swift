internal import Foundation
internal import InterceptorsSyntax

/// Formats a request as a curl command to paste into a shell (bash, zsh or ksh), with secrets redacted.
struct CurlCommand: Sendable {
    let body: LoggedBody
    /// Decides which values are secrets; `nil` to show them all.
    let redaction: Redaction?

    /// The command on one line, or the reason there is none, in angle brackets.
    func line(for request: HTTPRequest) -> String {
        // A malformed field could make curl read a file, and such a request won't be sent anyway.
        guard (try? request.validateForm()) != nil else {
            return "<no curl command: the request can't be sent as it is>"
        }
        var words = ["curl"] + methodOptions(of: request)
        for field in request.headers where field.name != .contentLength {
            let value = redaction?.value(of: field) ?? field.value
            // curl removes a field written with a colon and no value; a semicolon sends it empty.
            words += ["-H", Self.quoted(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)")]
        }
        words += bodyOptions(of: request) + urlOptions(of: request)
        words.append(Self.quoted(redaction?.string(for: request.url) ?? request.url.absoluteString))
        return words.joined(separator: " ")
    }

    private func methodOptions(of request: HTTPRequest) -> [String] {
        switch request.method {
        case .get where request.body.isEmpty: []
        case .head where request.body.isEmpty: ["--head"]
        default: ["-X", Self.quoted(request.method.rawValue)]
        }
    }

    private func bodyOptions(of request: HTTPRequest) -> [String] {
        guard !request.body.isEmpty else { return [] }
        // Without this, curl declares the content to be a form.
        let type = request.headers.contains(.contentType) ? [] : ["-H", "'Content-Type:'"]
        if let text = body.wholeText(of: request.body, request.headers) {
            return type + ["--data-raw", Self.quoted(text)]
        }
        let source = request.body.file.map { "@" + $0.path } ?? "@-"
        return type + ["--data-binary", Self.quoted(source)]
    }

    private func urlOptions(of request: HTTPRequest) -> [String] {
        let url = request.url.absoluteString
        var options: [String] = []
        if request.headers[.acceptEncoding]?.contains("gzip") == true { options.append("--compressed") }
        // curl treats brackets and braces as patterns, and resolves segments such as `/../` itself.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { options.append("--globoff") }
        if url.contains("/.") { options.append("--path-as-is") }
        return options
    }

    /// A word of a shell command: unquoted if possible, otherwise quoted so that the shell expands nothing in it.
    static func quoted(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        guard word.unicodeScalars.contains(where: PrintableText.isUnfit) else {
            // Splits by bytes, as the shell does: for a `String`, an apostrophe with a combining accent isn't an apostrophe.
            let parts = word.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
            return "'" + parts.map { Substring($0) }.joined(separator: #"'\''"#) + "'"
        }
        // Line breaks and characters that could control a terminal are written as escapes.
        var quoted = "$'"
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\n": quoted += #"\n"#
            case "\r": quoted += #"\r"#
            case "\t": quoted += #"\t"#
            case "'", "\\": quoted += "\\\(scalar)"
            // Some shells expand history events even inside these quotes.
            case "!": quoted += octal("!")
            default: quoted += PrintableText.isUnfit(scalar) ? octal(scalar) : String(scalar)
            }
        }
        return quoted + "'"
    }

    private static func octal(_ scalar: Unicode.Scalar) -> String {
        UTF8.encode(scalar)?.map { #"\"# + String(Int($0) + 0o1000, radix: 8).dropFirst() }.joined() ?? ""
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || "-_./@".utf8.contains(byte)
    }
}
