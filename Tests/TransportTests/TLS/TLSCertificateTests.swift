#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct TLSCertificateTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String, _ content: Data) throws -> URL { try folder.write(content, to: name) }

    @Test func derAndPEMAreTheSameCertificate() throws {
        let identity = try TestIdentity.selfSigned()
        let certificate = identity.chain[0]
        #expect(try TLSCertificate(file: file("c.pem", identity.certificatesPEM)) == certificate)
        #expect(try TLSCertificate(file: file("c.der", certificate.der)) == certificate)
        #expect(certificate.subject == "CN=localhost")
        #expect(try TLSCertificate(file: file("c.crt", certificate.der)).publicKeyPin == certificate.publicKeyPin)
    }

    @Test func pinIsThatWhichOpenSSLPrints() async throws {
        let certificate = try TLSFixture().identity.chain[0]
        let file = try file("c.pem", Data(PEM.text("CERTIFICATE", certificate.der).utf8))
        #expect(try await Script.signPins("pin", file.path) == certificate.publicKeyPin.description + "\n")
    }

    @Test func severalInOneFileAreAllRead() throws {
        let fixture = try TLSFixture()
        let file = try file("chain.pem", Data("Some words\n".utf8) + fixture.identity.certificatesPEM)
        #expect(try TLSCertificate.all(in: file) == fixture.identity.chain)
        let error = #expect(throws: TransportError.self) { try TLSCertificate(file: file) }
        #expect(error?.code == .notACertificate)
    }

    @Test func missingFileNamesTheCommandThatFetchesIt() throws {
        let file = URL(filePath: "/nonexistent/server.pem")
        let error = #expect(throws: TransportError.self) {
            try TLSCertificate(file: file, of: "api.example.com")
        }
        #expect(error?.code == .unreadableFile)
        let message = try #require(error?.message)
        #expect(message.contains("openssl s_client -connect api.example.com:443 -servername api.example.com"))
        #expect(message.contains("| openssl x509 -outform PEM -out '/nonexistent/server.pem'"))
    }

    @Test func everyTruncationAndManyMutationsAreNoCertificateOrAtLeastNoCrash() throws {
        let der = [UInt8](try TestIdentity.selfSigned().chain[0].der)
        for count in 0..<der.count {
            #expect(throws: TransportError.self) { try TLSCertificate(Data(der.prefix(count))) }
        }
        #expect(throws: TransportError.self) { try TLSCertificate(Data(der + [0])) }
        for index in der.indices {
            for bit in 0..<8 {
                var mutated = der
                mutated[index] ^= 1 << bit
                _ = CertificateLayout(mutated)
            }
        }
    }

    @Test(arguments: [
        "", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n",
        "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
    ])
    func whatIsNoCertificateIsRefused(content: String) {
        let error = #expect(throws: TransportError.self) { try TLSCertificate(Data(content.utf8)) }
        #expect(error?.code == .notACertificate)
    }

    /// A file with such a block was cut or joined wrongly.
    @Test func blockThatDoesNotEndAsItBeganIsRefused() throws {
        let base64 = try TestIdentity.selfSigned().chain[0].der.base64EncodedString()
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        for text in [
            "\(begin)\n\(base64)\n-----END PRIVATE KEY-----\n", "\(begin)\n\(base64)\n\(begin)\n\(base64)\n\(end)\n",
            "\(begin)\n\(base64)\n\(end)\n\(begin)\n\(base64)\n", "\(begin)\n\(base64)\n-----END CERTIFICATE----\n",
        ] {
            let error = #expect(throws: TransportError.self, "\(text)") { try TLSCertificate(Data(text.utf8)) }
            #expect(error?.code == .notACertificate)
        }
        for text in [
            "\(begin)\r\n\(base64)\r\n\(end)\r\n", "  \(begin)  \n  \(base64)\n\(end)",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n\(begin)\n\(base64)\n\(end)\n",
        ] {
            #expect(try TLSCertificate(Data(text.utf8)).subject == "CN=localhost")
        }
    }

    @Test func fileThatEndsWithinACertificateIsRefused() throws {
        let text = try TLSFixture().identity.certificatesPEM
        let file = try file("cut.pem", Data(text.dropLast(40)))
        let error = #expect(throws: TransportError.self) { try TLSCertificate.all(in: file) }
        #expect(error?.code == .notACertificate)
    }
}

@Suite(.againstHanging) struct ClientIdentityTests {
    @Test func archiveOpensWithItsPasswordOnly() throws {
        let identity = try TestAuthority().intermediate().issue(client: "Ada")
        let archive = try identity.pkcs12(password: "sesame")
        let opened = try ClientIdentity(pkcs12: archive, password: "sesame")
        #expect(opened == (try identity.clientIdentity))
        let error = #expect(throws: TransportError.self) {
            try ClientIdentity(pkcs12: archive, password: "open")
        }
        #expect(error?.code == .wrongPassword)
        #expect(throws: TransportError.self) { try ClientIdentity(pkcs12: archive, password: "") }
        #expect(throws: TransportError.self) { try ClientIdentity(pkcs12: Data("no".utf8), password: "") }
    }

    @Test func keyOfAnotherCertificateIsRefused() throws {
        let (one, other) = (try TestIdentity.selfSigned(), try TestIdentity.selfSigned())
        let error = #expect(throws: TransportError.self) {
            try ClientIdentity(certificate: one.certificatesPEM, privateKey: other.privateKeyPEM)
        }
        #expect(error?.code == .keyMismatch)
    }

    @Test func keyThatIsNoneIsRefused() throws {
        let identity = try TestIdentity.selfSigned()
        for content in [Data(), Data("nonsense".utf8), identity.certificatesPEM] {
            let error = #expect(throws: TransportError.self) {
                try ClientIdentity(certificate: identity.certificatesPEM, privateKey: content)
            }
            #expect(error?.code == .notAPrivateKey)
        }
    }

    @Test func missingFilesAreNamed() {
        let (one, other) = (URL(filePath: "/nonexistent/c.pem"), URL(filePath: "/nonexistent/k.pem"))
        let error = #expect(throws: TransportError.self) {
            try ClientIdentity(certificate: one, privateKey: other)
        }
        #expect(error?.code == .unreadableFile)
        #expect(throws: TransportError.self) { try ClientIdentity(pkcs12: one, password: "") }
    }

    @Test func descriptionShowsNoKey() throws {
        let identity = try TestAuthority().issue(client: "Ada").clientIdentity
        let key = identity.storage.privateKey
        var dumped = ""
        dump(TLSConfiguration(identity: identity), to: &dumped)
        for text in ["\(identity)", String(reflecting: identity), dumped] {
            #expect(text.contains("Ada"))
            #expect(!text.contains(key.base64EncodedString()))
            #expect(!text.contains("privateKey"))
        }
    }
}

/// The script with which users sign their lists.
enum Script {
    @discardableResult
    static func signPins(_ arguments: String...) async throws -> String {
        let result = try await Command.run(Repository.root.appending(path: "Scripts/sign-pins").path, arguments)
        guard result.status == 0 else { throw Failure(text: result.complaint) }
        return result.text
    }

    struct Failure: Error { let text: String }
}
#endif
