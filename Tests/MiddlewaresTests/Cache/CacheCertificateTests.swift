import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

/// The transport's client certificate tells callers apart.
@Suite(.againstHanging) struct CacheCertificateTests {
    private struct CertifiedTransport: TLSConfiguredTransport {
        let tls: TLSConfiguration
        let base: StubTransport

        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { try await base.send(request) }
    }

    private let world = CacheWorld()

    private func transports() throws -> [any Transport] {
        let authority = try TestAuthority()
        return try [authority.issue(client: "Ada").clientIdentity, authority.issue(client: "Bob").clientIdentity, nil]
            .map { CertifiedTransport(tls: TLSConfiguration(identity: $0), base: world.stub) }
    }

    private func body(_ transport: any Transport, partition: String? = nil) async throws -> String {
        let chain = InterceptorChain([world.cache], transport: transport)
        let response = try await chain.send(try world.request(partition: partition))
        return String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
    }

    @Test func twoClientCertificatesOverOneStoreShareNoResponse() async throws {
        let transports = try transports()
        for wrap in [
            { $0 }, { InterceptorChain([.retry()], transport: $0) },
            { Client(interceptors: [.followRedirects()], transport: $0) },
        ] as [(any Transport) -> any Transport] {
            try await world.store.removeAll()
            for name in ["ada", "bob", "nobody"] { world.answer(["Cache-Control: max-age=60"], name) }
            for _ in 0..<2 {
                #expect(try await body(wrap(transports[0])) == "ada")
                #expect(try await body(wrap(transports[1])) == "bob")
                #expect(try await body(wrap(transports[2])) == "nobody")
            }
        }
        #expect(world.stub.requests.count == 9)
        #expect(try await world.store.listing().allSatisfy { !$0.key.partition.contains("Ada") })
    }

    @Test func aNamedPartitionDecidesBeforeTheCertificate() async throws {
        let transports = try transports()
        world.answer(["Cache-Control: max-age=60"], "ada")
        #expect(try await body(transports[0], partition: "ada") == "ada")
        #expect(try await body(transports[1], partition: "ada") == "ada")
    }

    @Test func theCertificateIsNotSentAgainAsAnIdentityForEachChain() async throws {
        let transport = try transports()[0]
        world.answer(["Cache-Control: max-age=60"], "ada")
        let inner = InterceptorChain([world.cache], transport: transport)
        #expect(try await body(inner) == "ada")
        #expect(world.stub.requests.map(\.context.callerIdentities.count) == [1])
        #expect(try await body(transport) == "ada", "It is the same caller.")
        #expect(world.stub.requests.count == 1)
    }
}
