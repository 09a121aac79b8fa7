import InterceptorsTransport
import Testing

/// Expects that a chain refuses a request, because an element that shares responses can't see who asks.
@discardableResult
func expectUnseenCaller(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ send: () async throws -> some Any
) async -> TransportError? {
    let error = await #expect(throws: TransportError.self, sourceLocation: sourceLocation) { _ = try await send() }
    #expect(error?.code == .sharedResponse, sourceLocation: sourceLocation)
    return error
}
