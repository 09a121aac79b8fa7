internal import Foundation
internal import InterceptorsCore

extension HTTPBody {
    /// The content of several bodies, one after the other. It can be read again if each of them can.
    ///
    /// - Parameters:
    ///   - bodies: the bodies, of which the result owns all: discarding it discards them.
    ///   - length: the number of bytes of all bodies together.
    static func joined(_ bodies: [HTTPBody], length: Int64) -> HTTPBody {
        let bodies = bodies.filter { !$0.isEmpty }
        guard bodies.count != 1 else { return bodies[0] }
        guard !bodies.isEmpty else { return .empty }
        if bodies.allSatisfy(\.isRestartable) { return .restartable(length: length) { JoinedChunks(bodies: bodies) } }
        return .oneShot(JoinedChunks(bodies: bodies), length: length) {
            for body in bodies { body.discard() }
        }
    }
}

private struct JoinedChunks: AsyncSequence, Sendable {
    let bodies: [HTTPBody]

    func makeAsyncIterator() -> Iterator { Iterator(rest: bodies[...]) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<HTTPBody>
        var current: HTTPBody.AsyncIterator?

        init(rest: ArraySlice<HTTPBody>) { self.rest = rest }

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            while true {
                if let chunk = try await current?.next(isolation: actor) { return chunk }
                guard let body = rest.popFirst() else { return nil }
                current = body.makeAsyncIterator()
            }
        }
    }
}
