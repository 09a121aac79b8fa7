#if os(Linux)
import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// Uploads that servers of other projects answer before they have the content. With INTERCEPTORS_FULL_LOAD, a hundred of each
/// length; otherwise a few.
@Suite(.againstHanging, .heavy, .checksArchive)
struct EarlyAnswerTests {
    private static let count = FullLoad.isOn ? 100 : 3
    private static let lengths =
        FullLoad.isOn ? [1_000, 20_000, 70_000, 1_000_000, 5_000_000, 20_000_000] : [1_000, 70_000, 1_000_000]

    /// HAProxy may break the connection while a part of the content is on its way, and libcurl then reads no more. So a server that is
    /// asked first always gets its 401 across, and so does nginx, which reads on.
    @Test(arguments: Front.testable, lengths)
    func expiredTokenOfAnUploadIsRefreshed(front: Front, length: Int) async throws {
        let lost = try await lost(front, length: length, asksFirst: front != .nginx && length > 1_000)
        #expect(lost.isEmpty, "\(lost)")
    }

    @Test(arguments: Front.testable, lengths)
    func lossOfAnEarlyAnswerIsSaidAndSendsNothingTwice(front: Front, length: Int) async throws {
        for versions in [CurlTransport.Versions.negotiated, .http2] where versions == .negotiated || FullLoad.isOn {
            let lost = try await lost(front, length: length, versions: versions)
            #expect(lost.allSatisfy { $0.code == .connectionLost || versions == .http2 }, "\(lost)")
            if FullLoad.isOn { print("\(front), \(versions): \(lost.count) of \(Self.count) lost at \(length) bytes") }
        }
    }

    /// Sends uploads with an expired token through the chain of the README. Returns the errors.
    private func lost(
        _ front: Front,
        length: Int,
        versions: CurlTransport.Versions = .negotiated,
        asksFirst: Bool = false
    ) async throws -> [TransportError] {
        let (fixture, upstream) = (try NginxTLSTests.Fixture(), try MockServer(keptBodyLimit: 0))
        upstream.on(nil, "/**") { StubAnswer.text("\($0.bodyLength)") }
        var lost: [TransportError] = []
        try await front.run(fixture, upstream: upstream.port, directives: "client_max_body_size 0;") { url in
            var configuration = CurlTransport.Configuration()
            (configuration.tls, configuration.versions) = (fixture.tls, versions)
            let transport = CurlTransport(configuration)
            for _ in 0..<Self.count {
                let tokens = try TokenStore(TokenStore.Token("old"), origins: [#require(Origin(url))]) { _ in
                    TokenStore.Token("new")
                }
                let interceptors: [any Interceptor] = [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]
                let chain = InterceptorChain(interceptors, transport: transport)
                let body = HTTPBody(Data(repeating: 0x61, count: length))
                var request = HTTPRequest(method: .post, url: url, body: body)
                if asksFirst { request.headers[.expect] = "100-continue" }
                do {
                    let response = try await chain.send(request)
                    let text = try await NginxTests.text(response)
                    #expect(text == "\(length)")
                } catch let error as TransportError {
                    lost.append(error)
                }
            }
            await transport.shutDown()
        }
        #expect(upstream.requests.count == Self.count - lost.count)
        return lost
    }
}
#endif
