import Foundation
import Middlewares

/// Puts each interceptor between two that print: on the way down the fields that it added, on the way up the response that it
/// returned.
func narrated(_ steps: [(name: String, interceptor: any Interceptor)]) -> [any Interceptor] {
    let interceptors: [[any Interceptor]] = steps.enumerated().map { depth, step in
        [Returns(name: step.name, depth: depth), step.interceptor, Passes(name: step.name, depth: depth)]
    }
    return [Passes(name: "client", depth: nil)] + interceptors.flatMap(\.self)
        + [Returns(name: "transport", depth: steps.count)]
}

/// Just inside a step: prints the request that the step passes on, with the fields that the step added.
private struct Passes: Interceptor {
    let name: String
    let depth: Int?

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let known = request.context.narratedFields
        let added = request.headerFields.filter { !known.contains($0) }.map { "+ \($0)" }
        tell("↓ \(name)", added.joined(separator: "   "), depth: depth)
        request.context.narratedFields = request.headerFields
        return try await next(request)
    }
}

/// Just outside a step: prints the response or error that the step returns.
private struct Returns: Interceptor {
    let name: String
    let depth: Int

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        do {
            let response = try await next(request)
            let text = response.body.bytes.map { Redaction.standard.excerpt(of: $0, limit: 90) } ?? "a stream"
            tell("↑ \(name)", "\(response.status)  \(text)", depth: depth)
            return response
        } catch {
            tell("↑ \(name)", "throws \(type(of: error))", depth: depth)
            throw error
        }
    }
}

private func tell(_ event: String, _ note: String, depth: Int?) {
    let line = String(repeating: "  ", count: depth.map { $0 + 1 } ?? 0) + event
    // The server's text may contain line breaks; the narration prints one line.
    let note = note.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    say(note.isEmpty ? line : line.padding(toLength: max(40, line.count + 2), withPad: " ", startingAt: 0) + note)
}

/// Prints a log entry, indented, as part of the narration.
func show(_ entry: LogEntry) {
    for line in "\(entry)".split(separator: "\n") { say("                  \(line)") }
}

extension HTTPContext {
    private enum NarratedFieldsKey: HTTPContextKey { static var defaultValue: HTTPFields { HTTPFields() } }

    fileprivate var narratedFields: HTTPFields {
        get { self[NarratedFieldsKey.self] }
        set { self[NarratedFieldsKey.self] = newValue }
    }
}

/// Prints a line without buffering, even if the output is a file.
func say(_ line: String = "") { write(line, to: .standardOutput) }

/// Prints text that may contain a server's text. Control characters, which could control the terminal, are replaced.
func write(_ text: String, to file: FileHandle) {
    let shown = text.unicodeScalars.map { scalar in
        scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t" ? "\u{FFFD}" : scalar
    }
    file.write(Data((String(String.UnicodeScalarView(shown)) + "\n").utf8))
}
