import Foundation
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct HTTPConnectionInfoTests {
    private let timings = TransferTimings(
        nameLookup: .zero,
        connect: .zero,
        tls: .zero,
        firstByte: .seconds(1),
        total: .seconds(2),
        reusedConnection: true
    )
    private let connection = HTTPConnectionInfo(httpVersion: .http2, remoteAddress: "192.0.2.1", remotePort: 443)

    @Test(arguments: [
        ("http/1.0", HTTPVersion.http10), ("http/1.1", .http11), ("h2", .http2), ("h2c", .http2), ("h3", .http3),
        ("h3-29", .http3), ("spdy/3.1", HTTPVersion(rawValue: "spdy/3.1")),
    ])
    func protocolNamesAreVersions(name: String, version: HTTPVersion) {
        #expect(HTTPVersion(protocolName: name) == version)
    }

    @Test func cipherSuitesHaveTheirRegisteredNames() {
        #expect(TLSCipherSuite.name(of: 0x1302) == "TLS_AES_256_GCM_SHA384")
        #expect(TLSCipherSuite.name(of: 0xC02F) == "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
        #expect(TLSCipherSuite.name(of: 0x0A0B) == "0x0A0B")
        #expect(TLSCipherSuite.name(of: 0xFFFF) == "0xFFFF")
    }

    @Test func onlyKnownTLSVersionsAreNamed() {
        #expect(TLSVersion(negotiated: 0x0303) == .tls12)
        #expect(TLSVersion(negotiated: 0x0304) == .tls13)
        for number: UInt16 in [0, 0x0300, 0x0301, 0x0302, 0x0305, 0xFEFD] {
            #expect(TLSVersion(negotiated: number) == nil)
        }
    }

    @Test func timingsAndConnectionAreSetApartAndShareOneEntry() {
        var context = HTTPContext()
        #expect(context.timings == nil && context.connection == nil)
        context.connection = connection
        #expect(context.timings == nil && context.connection == connection)
        context.timings = timings
        #expect(context.timings == timings && context.connection == connection)
        #expect(context.count == 1)
        context.connection = nil
        #expect(context.timings == timings && context.connection == nil)
        context.setFacts(timings, connection)
        #expect(context.timings == timings && context.connection == connection)
        #expect(context.count == 1)
    }
}
