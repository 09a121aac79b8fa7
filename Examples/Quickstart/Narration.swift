import Foundation
import Middlewares

/// Puts a narrator before each interceptor, so that the path of a request can be read: down with what each has added to
/// it, up with what came back.
func narrated(_ steps: [(name: String, interceptor: any Interceptor)]) -> [any Interceptor] {
    let interceptors: [[any Interceptor]] = steps.enumerated().map { depth, step in
        [Narrator(name: step.name, depth: depth), step.interceptor]
    }
    return interceptors.flatMap(\.self) + [Narrator(name: "transport", depth: steps.count)]
}

/// Tells of each request on its way down, and of each response or error on its way up.
private struct Narrator: Interceptor {
    let name: String
    let depth: Int

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        tell("↓ \(name)", about: added(to: request))
        request.context.narratedFields = request.headerFields
        do {
            let response = try await next(request)
            tell("↑ \(name)", about: [summary(of: response)])
            return response
        } catch {
            tell("↑ \(name)", about: ["throws \(type(of: error))"])
            throw error
        }
    }

    /// What the interceptor before this one has added.
    private func added(to request: borrowing HTTPRequest) -> [String] {
        let known = request.context.narratedFields
        return request.headerFields.filter { !known.contains($0) }.map { "+ \($0)" }
    }

    private func summary(of response: HTTPResponse) -> String {
        let text = response.body.bytes.map { Redaction.standard.excerpt(of: $0, limit: 90) } ?? ""
        return text.isEmpty ? "\(response.status)" : "\(response.status)  \(text)"
    }

    private func tell(_ event: String, about notes: [String]) {
        let line = String(repeating: "  ", count: depth) + event
        let margin = String(repeating: " ", count: max(2, 40 - line.count))
        say(line + (notes.isEmpty ? "" : margin + notes.joined(separator: "   ")))
    }
}

extension HTTPContext {
    private enum NarratedFieldsKey: HTTPContextKey { static var defaultValue: HTTPFields { HTTPFields() } }

    fileprivate var narratedFields: HTTPFields {
        get { self[NarratedFieldsKey.self] }
        set { self[NarratedFieldsKey.self] = newValue }
    }
}

/// Prints a line at once, also where the output is a file.
func say(_ line: String = "") {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
