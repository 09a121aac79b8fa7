import Foundation
import Interceptors
import InterceptorsTesting
import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. The limit is far beyond what any test needs on the busiest machine.
    static var againstHanging: Self { .timeLimit(.minutes(30)) }
}

extension MockServer {
    /// The received requests, a line each: method and target, then the named fields, then the content.
    func lines(_ names: [HTTPField.Name] = []) -> [String] {
        requests.map { request in
            var line = "\(request.method.rawValue) \(request.target)"
            for name in names { line += request.headers[name].map { " \(name): \($0)" } ?? "" }
            let text = text(request)
            return text.isEmpty ? line : "\(line) \(text)"
        }
    }
}

/// Runs each side against a server and returns the values and the lines that were sent.
func compared<Value>(
    showing names: HTTPField.Name...,
    serve: (MockServer) -> Void,
    before: (URL) async throws -> Value,
    after: (URL) async throws -> Value
) async throws -> (values: (before: Value, after: Value), lines: (before: [String], after: [String])) {
    func run(_ side: (URL) async throws -> Value) async throws -> (Value, [String]) {
        let server = try MockServer()
        defer { server.stop() }
        serve(server)
        let value = try await side(server.url)
        return (value, server.lines(names))
    }
    let (old, oldLines) = try await run(before)
    let (new, newLines) = try await run(after)
    return ((old, new), (oldLines, newLines))
}

/// Whether Alamofire and Moya are the packages, and not declarations of their interfaces.
#if STAND_INS
let runsBefore = false
#else
let runsBefore = true
#endif

/// Checks that each side sends exactly these lines and returns this value. With a stand-in, checks the side after alone: the lines
/// and the value are those of the package itself, from a run with it.
func expectBoth<Value: Equatable>(
    toReturn value: Value,
    andSend lines: [String],
    showing names: HTTPField.Name...,
    serve: (MockServer) -> Void,
    before: @escaping (URL) async throws -> Value,
    after: @escaping (URL) async throws -> Value
) async throws {
    for (side, runs) in [(before, runsBefore), (after, true)] where runs {
        let server = try MockServer()
        defer { server.stop() }
        serve(server)
        #expect(try await side(server.url) == value)
        #expect(server.lines(names) == lines)
    }
}

/// An API whose tokens expire: `old` is rejected, and `/refresh` exchanges its refresh token for `new`.
func serveUsers(_ server: MockServer) {
    server.on(.post, "/refresh") { request in
        request.text == #"{"token":"r1"}"# ? .json(#"{"token":"new","refreshToken":"r2"}"#) : .status(400)
    }
    server.on(.get, "/users/*") { request in
        guard request.headers[.authorization] == "Bearer new" else { return .status(401) }
        return .json(#"{"id":42,"name":"Ada"}"#)
    }
}

/// The line of a form with a title and a photo.
let photoForm = [
    "POST /photos --…", #"Content-Disposition: form-data; name="title""#, "", "Ada", "--…",
    #"Content-Disposition: form-data; name="photo"; filename="photo.jpg""#, "Content-Type: image/jpeg", "", "jpeg",
    "--…--", "",
].joined(separator: "\r\n")

/// The content, with the boundary of multipart content replaced, because it is random.
private func text(_ request: MockServer.Request) -> String {
    let type = request.headers[.contentType]?.components(separatedBy: "boundary=") ?? []
    guard type.count == 2 else { return request.text }
    return request.text.replacing(type[1].trimmingCharacters(in: ["\""]), with: "…")
}

func temporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "migration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}
