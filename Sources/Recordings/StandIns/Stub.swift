/// An answer to some requests, as a value: the parameters of `StubTransport.on`, to be kept, written to a file, or handed to
/// another process.
///
/// ```swift
/// let stubs: [Stub] = [
///     .on(.get, "/users/*", .json(#"{"id":42,"name":"Ada"}"#)),
///     .on(.post, "/login", .status(503).delayed(by: .seconds(1)), times: 1),
/// ]
/// let client = Client(baseURL: url, transport: StubTransport(stubs))
/// ```
/// ``LaunchStubs`` passes stubs to an app under test, and reads them from JSON.
public struct Stub: Sendable {
    /// The method, or `nil` for any.
    public var method: HTTPRequest.Method?
    /// The pattern of the URL, as `StubTransport` documents it.
    public var pattern: String
    /// The answer.
    public var answer: StubAnswer
    /// The number of requests to answer, or `nil` for all.
    public var times: Int?
    let location: CodeLocation

    /// An answer to requests with a given method whose URL matches a pattern.
    ///
    /// - Parameters:
    ///   - method: the method, or `nil` for any.
    ///   - pattern: a path or a URL, optionally with `*` and `**`. See `StubTransport`.
    ///   - answer: the answer.
    ///   - times: the number of requests to answer, or `nil` for all.
    ///   - fileID: the file that error messages name; leave it out.
    ///   - line: the line that error messages name; leave it out.
    public static func on(
        _ method: HTTPRequest.Method?,
        _ pattern: String,
        _ answer: StubAnswer,
        times: Int? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) -> Self {
        let location = CodeLocation(fileID: fileID, line: line)
        return Self(method: method, pattern: pattern, answer: answer, times: times, location: location)
    }

    var scope: StubScope { StubScope(method, pattern) }
}

extension Stub: CustomStringConvertible {
    /// The method, the pattern with secrets redacted, and the answer in a few words.
    public var description: String { "\(scope): \(answer.summary)" }
}

extension StubTransport {
    /// Creates a transport with stubs.
    ///
    /// - Parameters:
    ///   - stubs: the stubs, in the order of their registration.
    ///   - fallback: receives the requests that no stub and no queued answer matches.
    ///   - time: its clock measures delays and time limits.
    public convenience init(_ stubs: [Stub], fallback: (any Transport)? = nil, time: TimeSource = .system) {
        self.init(fallback: fallback, time: time)
        add(stubs)
    }

    /// Registers stubs, as `on(_:_:_:times:)` does one after another.
    public func add(_ stubs: [Stub]) {
        for stub in stubs {
            let (fileID, line) = (stub.location.fileID, stub.location.line)
            on(stub.method, stub.pattern, stub.answer, times: stub.times, fileID: fileID, line: line)
        }
    }
}
