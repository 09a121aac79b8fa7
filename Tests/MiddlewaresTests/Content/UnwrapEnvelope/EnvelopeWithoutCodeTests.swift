import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

// Envelopes that have no code.
extension UnwrapEnvelopeInterceptorTests {
    @Test(arguments: [
        (#"{"data":{"user":{"id":42}}}"#, #"{"id":42}"#), (#"{"data":{"user":null}}"#, "null"),
        (#"{"code":1005,"data":{"user":[]}}"#, "[]"),
    ])
    func anEnvelopeWithoutACodeIsKnownByItsPayload(body: String, payload: String) async throws {
        #expect(try await self.payload(of: body, .unwrapEnvelope(payload: "data.user", success: .payload)) == payload)
    }

    @Test(arguments: [#"{"user":{"id":42}}"#, #"{"data":{}}"#, #"{"error":"none"}"#])
    func aBodyWithoutThePayloadIsNoEnvelope(body: String) async throws {
        let error = try await error(of: body, .unwrapEnvelope(payload: "data.user", success: .payload))
        #expect(error.code == .notAnEnvelope)
        #expect(error.description.contains("The body has no value at data.user."))
        let passing: AnyInterceptor = .unwrapEnvelope(payload: "data.user", success: .payload, passesOthers: true)
        #expect(try await payload(of: body, passing) == body)
    }
}
