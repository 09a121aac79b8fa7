public import Foundation
internal import InterceptorsArchives

/// The stubs that a UI test hands to the app that it starts.
///
/// ```swift
/// var stubs = LaunchStubs("users", "login")                         // names from the app's table
/// stubs.stubs = [.on(.get, "/users/42", .status(404))]               // replaces or adds answers
/// let arguments = try stubs.launchArguments                         // in a UI test: app.launchArguments += …
/// ```
/// The app answers with ``InterceptorsTransport/Transport/launchStubs(allowed:defaults:fallback:otherwise:arguments:time:)``:
///
/// ```swift
/// let api = Client(baseURL: url, transport: .launchStubs(allowed: isDebugBuild, otherwise: .platform()))
/// ```
/// ## What travels
/// Values: closures, streamed bodies, interim responses, trailers and errors that aren't an `HTTPError` can't travel. A file
/// travels as its path, so the app must be able to read it. An empty list of stubs travels too: every request of the app then
/// fails with `HTTPErrorCode.noStub`, and none reaches a network.
///
/// ## By hand
/// In the arguments of a scheme or of `simctl launch`, one argument is enough. The list holds names and stubs:
///
/// ```text
/// --interceptors-stubs=["users",{"on":"GET /users/42","status":404}]
/// ```
/// `LaunchStubs(json: data).stubs` reads such a list anywhere, for example for a `StubTransport`:
///
/// ```json
/// [
///     {"on": "GET /users/*", "json": {"id": 42, "name": "Ada"}},
///     {"on": "POST /login", "status": 503, "headers": [["Retry-After", "2"]], "delay": 1, "times": 1},
///     {"on": "/photo", "file": "/fixtures/photo.jpg"},
///     {"on": "GET /feed", "failure": {"code": "offline"}}
/// ]
/// ```
/// `on` is a method and a pattern; without a method, any method matches. The other members are those of the answer, all optional:
///
/// | member | value |
/// | --- | --- |
/// | `status` | the status; by default 200 |
/// | `headers` | the fields, as a list of names and values |
/// | `json` | the content, as any JSON value. Adds `Content-Type: application/json`. |
/// | `text` | the content, as text. Adds `Content-Type: text/plain; charset=utf-8`. |
/// | `base64` | the content, as bytes in base64. Adds no content type. |
/// | `file` | the absolute path of a file with the content, read when a request is answered. Adds the type of its extension. |
/// | `chunks` | a streamed content: a list of objects with `text` or `base64`, and `after`, a pause in seconds |
/// | `failure` | an error in place of a response, or, with `chunks`, after them: an object with `code` and, optionally, `message` |
/// | `never` | `true`: no response and no error |
/// | `delay` | seconds before the answer |
/// | `times` | the number of requests to answer; without it, all |
///
/// An answer has at most one content. A type in `headers` takes precedence over an added one. Unknown members are errors, because a
/// misspelled one would change the answer silently.
public struct LaunchStubs: Sendable {
    /// The names of stubs in the app's table.
    public var names: [String]
    /// Further stubs. An unlimited one replaces a named one for the same requests, and a limited one answers first.
    public var stubs: [Stub]
}

extension LaunchStubs {
    /// Creates stubs from names in the app's table, and further ones.
    ///
    /// - Parameters:
    ///   - names: the names.
    ///   - stubs: the further stubs.
    public init(_ names: String..., stubs: [Stub] = []) {
        self.init(names: names, stubs: stubs)
    }

    /// Reads a list of names and stubs.
    ///
    /// - Throws: `TransportError` with ``InterceptorsTransport/HTTPErrorCode/invalidLaunchStubs``, which names the member that is
    ///   wrong.
    public init(json: Data) throws {
        self.init()
        for (index, element) in try JSONMember(parsing: json, as: .stubs).elements().enumerated() {
            if case .string(let name) = element.value {
                names.append(name)
            } else {
                stubs.append(try Stub(element, number: index + 1))
            }
        }
    }

    /// The list as JSON, secrets included.
    ///
    /// - Throws: `TransportError` if an answer can't travel.
    func json() throws -> Data {
        let list = try OrderedJSON.array(names.map { .string($0) } + stubs.map { try $0.json() }).data()
        // A file that can't be read is reported in the test already, not only in the app.
        _ = try LaunchStubs(json: list)
        return list
    }

    /// The launch argument that holds the stubs. Add it to those of the app.
    ///
    /// Systems limit arguments: it holds 512 KiB, and 96 KiB on Linux.
    ///
    /// - Throws: `TransportError` with ``InterceptorsTransport/HTTPErrorCode/invalidLaunchStubs`` if an answer can't travel, or with
    ///   ``InterceptorsTransport/HTTPErrorCode/launchStubsTooLong``: keep long answers in files, or name stubs of the app's table.
    public var launchArguments: [String] {
        get throws {
            let (text, limit) = (LaunchArguments.ascii(try json()), LaunchArguments.limit)
            guard text.utf8.count <= limit else {
                throw TransportError(
                    .launchStubsTooLong,
                    "The stubs take \(text.utf8.count) bytes, and a launch argument holds \(limit). Keep long answers in files"
                        + " that the app can read, .file(…), or name stubs of the app's table."
                )
            }
            return [LaunchArguments.flag + text]
        }
    }
}

extension LaunchStubs {
    /// The stubs to register, in this order, with those that the names stand for.
    ///
    /// - Throws: `TransportError` if a name isn't in the table.
    func resolved(by table: [String: [Stub]]) throws -> [Stub] {
        var named = try names.flatMap { name in
            if let stubs = table[name] { return stubs }
            let known = LaunchArguments.printable(table.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", "))
            let hint = known.isEmpty ? "The app has no table: pass `defaults:`." : "The table has: \(known)."
            let message = "\"\(LaunchArguments.printable(name))\" isn't in the app's table of stubs. \(hint)"
            throw TransportError(.invalidLaunchStubs, message)
        }
        // Otherwise a limited stub of the table, which answers before any unlimited one, would not be replaced.
        let unlimited = stubs.filter { $0.times == nil }
        named.removeAll { old in
            unlimited.contains { $0.scope.covers(old.scope) && old.scope.covers($0.scope) }
        }
        // Limited stubs answer in the order of their registration; of unlimited ones, the newest may replace others.
        return stubs.filter { $0.times != nil } + named + unlimited
    }
}

extension HTTPErrorCode {
    /// `TransportError`: stubs for an app under test can't be read, so that no request is answered or sent, or can't travel.
    public static let invalidLaunchStubs = Self(rawValue: "invalidLaunchStubs")
    /// `TransportError`: stubs for an app under test are longer than a launch argument may be.
    public static let launchStubsTooLong = Self(rawValue: "launchStubsTooLong")
}

/// The form of stubs in launch arguments: JSON in ASCII, because a system may change the Unicode form of an argument.
enum LaunchArguments {
    static let flag = "--interceptors-stubs="
    /// No other argument begins so: a misspelled flag must not reach the network.
    private static let prefix = "--interceptors-stub"
    /// In bytes.
    #if os(Linux) || os(Android)
    // Linux allows 128 KiB for one argument.
    static let limit = 96 << 10
    #else
    // macOS allows 1 MiB for all arguments and the environment.
    static let limit = 512 << 10
    #endif

    /// JSON text with every other character escaped. Only strings contain any.
    static func ascii(_ json: Data) -> String {
        String(decoding: json, as: UTF8.self).unicodeScalars.reduce(into: "") { text, scalar in
            guard scalar.value >= 0x7F else { return text.unicodeScalars.append(scalar) }
            for unit in String(scalar).utf16 { text += String(format: "\\u%04x", Int(unit)) }
        }
    }

    /// The stubs in the arguments; `nil` if none of the arguments is about stubs.
    static func stubs(in arguments: [String]) throws -> LaunchStubs? {
        var all: LaunchStubs?
        for argument in arguments where argument.hasPrefix(prefix) {
            guard argument.hasPrefix(flag) else {
                let name = printable(String(argument.prefix { $0 != "=" }))
                let message = "The argument \(name) is unknown. The argument about stubs is \(flag)…."
                throw TransportError(.invalidLaunchStubs, message)
            }
            let more = try LaunchStubs(json: Data(argument.dropFirst(flag.count).utf8))
            all = LaunchStubs(names: (all?.names ?? []) + more.names, stubs: (all?.stubs ?? []) + more.stubs)
        }
        return all
    }

    // Counted in scalars, because a single character can be of any length.
    static func printable(_ text: String) -> String { PrintableText.line(String(text.unicodeScalars.prefix(300))) }
}
