#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct PinnedCertificatesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    }

    private func request() throws -> HTTPRequest {
        HTTPRequest(url: try #require(URL(string: "https://127.0.0.1:9/")))
    }

    @Test func everyCertificateOfTheFolderIsAPin() throws {
        let roots = try ["a", "b", "c"].map { try TestAuthority(name: $0).certificate }
        for (root, name) in zip(roots, ["b.cer", "a.DER", "c.crt"]) { _ = try folder.write(root.der, to: name) }
        _ = try folder.write(Data("-----BEGIN PRIVATE KEY-----".utf8), to: "key.pem")
        _ = try folder.write(roots[0].der, to: "again.der")
        let expected = [roots[1], roots[0], roots[2]].map(\.publicKeyPin)
        #expect(try CertificatePin.publicKeys(inFolder: folder.url) == expected)
        #expect(TLSConfiguration.pinned(certificatesIn: folder.url) == .pinned(expected))
        let bundle = try #require(Bundle(path: folder.url.path))
        #expect(TLSConfiguration.pinned(certificatesIn: bundle).literalError == nil)
    }

    @Test func folderWithoutACertificateIsRefusedAndNotTakenForNoPins() async throws {
        _ = try folder.write(Data(), to: "readme.txt")
        let error = #expect(throws: TransportError.self) { try CertificatePin.publicKeys(inFolder: folder.url) }
        #expect(error?.code == .unreadableFile)
        #expect(error?.message.contains("holds no certificate") == true)
        let bundle = try #require(Bundle(path: folder.url.path))
        let missing = folder.file("missing")
        for tls in [
            TLSConfiguration.pinned(certificatesIn: folder.url), .pinned(certificatesIn: bundle),
            .pinned(certificatesIn: missing),
        ] {
            let transports: [any Transport] = [
                CurlTransport(.init(tls: tls)), URLSessionTransport(tls: tls), .platform(tls: tls),
            ]
            for transport in transports {
                let error = try await #require(throws: TransportError.self) { try await transport.send(request()) }
                #expect(error.code == .unsupported)
                #expect((error.underlying as? TransportError)?.code == .unreadableFile)
                #expect(error.message.contains(folder.url.path))
            }
        }
    }

    @Test func fileThatIsNoCertificateIsRefused() async throws {
        _ = try folder.write(try TestAuthority().certificate.der, to: "a.der")
        _ = try folder.write(Data([1, 2, 3]), to: "b.der")
        let error = #expect(throws: TransportError.self) { try CertificatePin.publicKeys(inFolder: folder.url) }
        #expect(error?.code == .notACertificate)
        #expect(error?.message.contains("b.der") == true)
        let tls = TLSConfiguration.pinned(certificatesIn: folder.url)
        await #expect(throws: TransportError.self) { try await CurlTransport(.init(tls: tls)).send(request()) }
    }

    @Test func serverIsReachedByThePinOfItsCertificateAlone() async throws {
        let fixture = try TLSFixture()
        let file = try folder.write(fixture.intermediate.certificate.der, to: "issuer.cer")
        let tls = TLSConfiguration.pinned(certificatesIn: folder.url, trust: fixture.trust)
        #expect(try await send(fixture.request(), tls).status == 200)
        try TestAuthority(name: "Other").certificate.der.write(to: file)
        let other = TLSConfiguration.pinned(certificatesIn: folder.url, trust: fixture.trust)
        let error = await #expect(throws: TransportError.self) { try await send(fixture.request(), other) }
        #expect(error?.underlying is PinningError)
    }
}
#endif
