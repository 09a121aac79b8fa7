public import Foundation
internal import InterceptorsCore

/// The stubs that a UI test hands to the app that it starts.
///
/// ```swift
/// var stubs = LaunchStubs("users", "login")                         // names from the app's table
/// stubs.stubs = [.on(.get, "/users/42", .status(404))]               // replaces or adds answers
/// let arguments = try stubs.launchArguments                         // in a UI test: app.launchArguments += …
/// ```
/// The app answers with ``LaunchTransport``:
///
/// ```swift
/// let api = Client(baseURL: url, transport: .fromLaunch(allowed: isDebugBuild, orElse: .platform()))
/// ```
/// ## What travels
/// Values: closures, streamed bodies and errors that aren't an `HTTPError` can't be encoded. A file travels as its path, so the
/// app must be able to read it. An empty list of stubs travels too: every request of the app then fails with
/// `HTTPErrorCode.noStub`, and none reaches a network.
///
/// ## By hand
/// In the arguments of a scheme or of `simctl launch`, one argument is enough. The list holds names and stubs:
///
/// ```text
/// --interceptors-stubs=["users",{"on":"GET /users/42","status":404}]
/// --interceptors-stubs-file=/tmp/stubs.json
/// ```
public struct LaunchStubs: Sendable {
    /// The names of stubs in the app's table.
    public var names: [String]
    /// Further stubs. An unlimited one replaces a named one for the same requests, and a limited one answers first.
    public var stubs: [Stub]

    /// Creates stubs from names in the app's table, and further ones.
    ///
    /// - Parameters:
    ///   - names: the names.
    ///   - stubs: the further stubs.
    public init(_ names: String..., stubs: [Stub] = []) {
        self.names = names
        self.stubs = stubs
    }

    /// The launch arguments that hold the stubs, each below 100 KB, and 512 KiB in all. Add them to those of the app, in this
    /// order.
    ///
    /// Systems limit arguments: Linux to 128 KiB each, macOS to 1 MiB with the environment.
    ///
    /// - Throws: `EncodingError` if an answer can't travel, or `TransportError` with
    ///   ``InterceptorsTransport/HTTPErrorCode/launchStubsTooLong``: use ``launchArguments(file:)``.
    public var launchArguments: [String] {
        get throws { try LaunchArguments.arguments(for: self) }
    }

    /// The launch arguments that name a file, to which the stubs are written.
    ///
    /// The app reads the file when it makes its transport. A sandboxed app can read only some folders. An app in a simulator
    /// reads the files of the Mac; an app on a device doesn't.
    ///
    /// - Parameter file: the file to write, which both processes can reach. An earlier one is replaced. It contains the stubs
    ///   as JSON, secrets included.
    /// - Throws: `EncodingError` if an answer can't travel, or `TransportError` with `HTTPErrorCode.unwritableFile`.
    public func launchArguments(file: URL) throws -> [String] {
        let json = try LaunchArguments.json(self)
        do { try json.write(to: file, options: .atomic) } catch {
            throw TransportError(.unwritableFile, "The stubs can't be written to \(file.path).", underlying: error)
        }
        return [LaunchArguments.fileFlag + file.absoluteURL.standardizedFileURL.path]
    }
}

extension LaunchStubs: ExpressibleByArrayLiteral {
    /// Creates stubs without names.
    public init(arrayLiteral stubs: Stub...) {
        names = []
        self.stubs = stubs
    }
}

extension LaunchStubs: Codable {
    /// Decodes a list of names and stubs.
    ///
    /// - Throws: `DecodingError`, which names the member that is wrong.
    public init(from decoder: any Decoder) throws {
        (names, stubs) = ([], [])
        var elements = try decoder.unkeyedContainer()
        while !elements.isAtEnd {
            if let name = try? elements.decode(String.self) {
                names.append(name)
            } else {
                stubs.append(try elements.decode(Stub.self))
            }
        }
    }

    /// Encodes a list of names and stubs, secrets included.
    ///
    /// - Throws: `EncodingError` if an answer can't be encoded.
    public func encode(to encoder: any Encoder) throws {
        var elements = encoder.unkeyedContainer()
        for name in names { try elements.encode(name) }
        for stub in stubs { try elements.encode(stub) }
    }
}

extension LaunchStubs {
    /// The stubs to register, in this order, with those that the names stand for.
    ///
    /// - Throws: ``LaunchProblem`` if a name isn't in the table.
    func resolved(by table: [String: [Stub]]) throws(LaunchProblem) -> [Stub] {
        var named: [Stub] = []
        for name in names {
            guard let stubs = table[name] else { throw .unknownName(name, table.keys.sorted()) }
            named += stubs
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
