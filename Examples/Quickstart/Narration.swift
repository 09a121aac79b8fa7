import Foundation
import Middlewares

/// Puts each interceptor between two that narrate, so that the path of a request can be read: down with what each step
/// has added to it, up with what it gives back.
func narrated(_ steps: [(name: String, interceptor: any Interceptor)]) -> [any Interceptor] {
    let interceptors: [[any Interceptor]] = steps.enumerated().map { depth, step in
        [Returns(name: step.name, depth: depth), step.interceptor, Passes(name: step.name, depth: depth)]
    }
    return [Passes(name: "client", depth: nil)] + interceptors.flatMap(\.self)
        + [Returns(name: "transport", depth: steps.count)]
}

/// Stands inside a step: tells what it passes on, and what it has added.
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

/// Stands outside a step: tells what it gives back.
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
    // One line, whatever the server's text is made of.
    let note = note.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    say(note.isEmpty ? line : line.padding(toLength: max(40, line.count + 2), withPad: " ", startingAt: 0) + note)
}

/// Shows an entry of the log inside the narration.
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

/// Prints a line at once, also where the output is a file.
func say(_ line: String = "") { write(line, to: .standardOutput) }

/// Prints text of which a part may come from a server: without what could control the terminal.
func write(_ text: String, to file: FileHandle) {
    let shown = text.unicodeScalars.map { scalar in
        scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t" ? "\u{FFFD}" : scalar
    }
    file.write(Data((String(String.UnicodeScalarView(shown)) + "\n").utf8))
}
