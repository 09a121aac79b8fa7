/// Thrown by ``StubTransport/verify()``: everything that is left over, in one error.
///
/// - A stub that answered no request, or fewer than its `times:`.
/// - An answer that is still in the queue.
/// - A request that arrived, and whose response or error isn't there yet.
/// - A streamed response that was neither read to its end nor discarded.
public struct StubVerificationError: Error, Sendable {
    /// The problems: stubs in the order of their registration, then the queue, then requests and bodies. Each names the stub or
    /// the request, with secrets in URLs redacted, and the line where the stub was registered.
    public let problems: [String]
}

extension StubVerificationError: CustomStringConvertible {
    /// The problems, separated by semicolons.
    public var description: String { "StubVerificationError: " + problems.joined(separator: "; ") }
}
