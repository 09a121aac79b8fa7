import Foundation
import InterceptorsCore
import Testing

/// A transport that is wrong in one way, and the one rule that finds it.
struct BrokenTransport: Sendable, CustomTestStringConvertible {
    typealias Send = @Sendable (HTTPRequest) async throws -> HTTPResponse
    typealias Bend = @Sendable (_ request: HTTPRequest, _ send: @escaping Send) async throws -> HTTPResponse

    private struct Bent: Transport {
        let base: any Transport
        let bend: Bend

        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
            try await bend(request) { [base] in try await base.send($0) }
        }
    }

    /// The rule.
    let rule: String
    /// Creates the state of a transport, and returns its fault.
    private let make: @Sendable () -> Bend

    init(_ rule: String, stateful make: @escaping @Sendable () -> Bend) {
        self.rule = rule
        self.make = make
    }

    init(_ rule: String, _ bend: @escaping Bend) { self.init(rule, stateful: { bend }) }

    /// A transport with the fault.
    func bent(_ base: any Transport) -> any Transport { Bent(base: base, bend: make()) }

    var testDescription: String { rule }
}

/// A response's stream without its `discard()`, or with another end.
struct AlteredStream: AsyncSequence, Sendable {
    let body: HTTPBody
    /// Replaces the error at the end of the stream; `nil` ends the stream without an error.
    var replacement: @Sendable (any Error) -> (any Error)? = { $0 }

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: HTTPBody.AsyncIterator
        let replacement: @Sendable (any Error) -> (any Error)?

        mutating func next() async throws -> Data? {
            do {
                return try await base.next()
            } catch {
                if let error = replacement(error) { throw error }
                return nil
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), replacement: replacement)
    }
}
