import Foundation
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct HostPatternTests {
    @Test(arguments: [
        (
            "api.example.com", ["api.example.com", "API.Example.COM", "api.example.com."],
            ["example.com", "b.api.example.com"]
        ),
        ("*.example.com", ["api.example.com", "a.b.example.com"], ["example.com", "badexample.com"]),
        (".example.com", ["example.com", "api.example.com", "a.b.example.com."], ["badexample.com", "com"]),
        ("*", ["example.com", "127.0.0.1", "::1", "localhost"], []),
        ("127.0.0.1", ["127.0.0.1", "127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433"], ["1.127.0.0.1", "127.2"]),
        ("::1", ["::1", "[::1]", "0:0:0:0:0:0:0:1"], ["::2"]),
        ("xn--bcher-kva.example", ["bücher.example", "xn--bcher-kva.example"], ["bucher.example"]),
        ("Bücher.example", ["xn--bcher-kva.example"], []),
    ])
    func matches(pattern: String, hosts: [String], others: [String]) throws {
        let pattern = try HostPattern(parsing: pattern)
        func isMatch(_ host: String) -> Bool {
            HostPattern.candidates(for: HostPattern.normalized(host)).contains(pattern)
        }
        for host in hosts { #expect(isMatch(host), "\(pattern) should match \(host)") }
        for host in others { #expect(!isMatch(host), "\(pattern) should not match \(host)") }
    }

    @Test(arguments: [
        "", ".", "*.", "**", "https://example.com", "example.com:443", "example.com/", "a b", "*.127.0.0.1", "a..b",
        "*a.b",
        "a.*.b", "user@example.com", "%2A", "example.com\r\n",
    ])
    func whatIsNoHostIsRefused(text: String) {
        let error = #expect(throws: TransportError.self) { try HostPattern(parsing: text) }
        #expect(error?.code == .invalidHostPattern)
    }

    @Test func addressIsNoSubdomain() {
        let candidates = HostPattern.candidates(for: "10.0.0.1")
        #expect(candidates == ["10.0.0.1", "*"])
    }

    @Test func mostSpecificPatternHoldsAlone() {
        let pins = (0..<4).map { CertificatePin(.publicKey, digest: [UInt8](repeating: $0, count: 32)) }
        let tls = TLSConfiguration.pinned([
            "*": [pins[0]], ".example.com": [pins[1]], "*.example.com": [pins[2]], "api.example.com": [pins[3]],
        ])
        #expect(tls.pins(for: "other.org") == [pins[0]])
        #expect(tls.pins(for: "example.com") == [pins[1]])
        #expect(tls.pins(for: "www.example.com") == [pins[2]])
        #expect(tls.pins(for: "API.example.com.") == [pins[3]])
        #expect(TLSConfiguration.pinned(["example.com": [pins[0]]]).pins(for: "www.example.com") == nil)
    }
}

@Suite(.againstHanging) struct CertificatePinTests {
    static let text = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    @Test func textGoesThereAndBack() throws {
        #expect(try CertificatePin(parsing: Self.text).description == Self.text)
        let ofCertificate = "certificate-" + Self.text
        #expect(try CertificatePin(parsing: ofCertificate).description == ofCertificate)
        #expect(try CertificatePin(parsing: ofCertificate) != CertificatePin(parsing: Self.text))
    }

    @Test func curlsSpellingIsUnderstoodAndADigestMayBeginWithASlash() throws {
        #expect(CertificatePin("sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=").description == Self.text)
        let slash = [UInt8]([0xFC]) + [UInt8](repeating: 1, count: 31)
        let pin = CertificatePin(.publicKey, digest: slash)
        #expect(pin.description.hasPrefix("sha256//"))
        #expect(try CertificatePin(parsing: pin.description) == pin)
    }

    @Test func base64AloneIsThePinOfAPublicKey() throws {
        let pin: CertificatePin = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        #expect(pin.isValid && pin.description == Self.text)
        // A digest whose base64 begins like the prefix of a pin.
        let text = "sha256/" + String(repeating: "A", count: 36) + "="
        let digest = try #require(Data(base64Encoded: text))
        #expect(try CertificatePin(parsing: text) == CertificatePin(.publicKey, digest: [UInt8](digest)))
    }

    @Test(arguments: [
        "", "sha256/", "sha256/AAAA", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", "AAAA", "certificate-sha256",
        "sha1/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
        "sha256/47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=", "sha256/…",
        "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFWqqg==",
    ])
    func whatIsNoBase64OfThirtyTwoBytesIsRefused(text: String) {
        let error = #expect(throws: TransportError.self) { try CertificatePin(parsing: text) }
        #expect(error?.code == .invalidPin)
        #expect(error?.message.contains("sha256/") == true)
    }

}

@Suite(.againstHanging) struct TLSLiteralTests {
    static let valid: CertificatePin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    @Test func validLiteralIsWhatItsTextParsesAs() throws {
        #expect(Self.valid.isValid)
        #expect(Self.valid == (try CertificatePin(parsing: CertificatePinTests.text)))
        let pattern: HostPattern = "*.Example.com"
        #expect(pattern.isValid)
        #expect(pattern == (try HostPattern(parsing: "*.example.com")))
    }

    @Test func invalidLiteralTrapsNotAndMatchesNothing() {
        // In both lines Swift calls the literal initialiser (SE-0213).
        let pin = CertificatePin("sha1/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        let pattern = HostPattern("**.x.com")
        #expect(!pin.isValid && !pattern.isValid)
        #expect(pin.description == "sha1/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        #expect(pattern.description == "**.x.com")
        #expect(HostPattern.candidates(for: HostPattern.normalized("**.x.com")).contains(pattern) == false)
        #expect(HostPattern("https://a.example") != HostPattern(stringLiteral: "a.example"))
    }

    @Test(arguments: [
        TLSConfiguration.pinned(["sha256/oops"]),
        .pinned([valid, "sha256/oops"]),
        .pinned(["*.example.com": [valid], "127.0.0.1": [valid, "sha256/oops"]]),
        .pinned(["sha256/oops": [valid]]),
        .pinned(["sha256/oops": []]),
    ])
    func invalidLiteralMakesEachCallFailWithItsText(tls: TLSConfiguration) async throws {
        // Any host, with or without TLS: the literal may have been meant for it.
        for url in ["http://127.0.0.1:9/", "https://127.0.0.1:9/"] {
            let request = HTTPRequest(url: try #require(URL(string: url)))
            let transports: [any Transport] = [URLSessionTransport(tls: tls), .platform(tls: tls)]
            for transport in transports {
                let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
                #expect(error?.code == .unsupported)
                #expect(error?.message.contains("sha256/oops") == true)
                let cause = error?.underlying as? TransportError
                #expect(cause?.code == .invalidPin || cause?.code == .invalidHostPattern)
            }
        }
    }
}

@Suite(.againstHanging) struct TLSChecksTests {
    @Test(arguments: ["http://127.0.0.1:9/", "HTTP://[::1]:9/"])
    func requiredTLSRefusesPlainURLsBeforeAnythingIsSent(url: String) async throws {
        var tls = TLSConfiguration.system
        tls.isRequired = true
        #expect(tls.isPlain)
        let request = HTTPRequest(url: try #require(URL(string: url)))
        for transport in [URLSessionTransport(tls: tls), .platform(tls: tls)] as [any Transport] {
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            #expect(error?.code == .tlsFailed)
            #expect(error?.message.contains("isRequired") == true)
        }
        // Over https the request is sent, and nothing listens on the port.
        let secure = HTTPRequest(url: try #require(URL(string: "https://127.0.0.1:9/")))
        let error = await #expect(throws: TransportError.self) {
            try await PlatformTransport.platform(tls: tls).send(secure)
        }
        #expect(error?.code == .cannotConnect)
    }

    @Test func urlSessionOnLinuxRefusesWhateverItCannotDo() throws {
        #expect(TLSConfiguration.system.refusalOfURLSessionOnLinux(nil) == nil)
        let exempt = TLSConfiguration.system.dangerouslyAcceptingAnyHostName(from: "localhost")
        let settings: [TLSConfiguration] = [
            .pinned([try CertificatePin(parsing: CertificatePinTests.text)]), TLSConfiguration(trust: .only([])),
            TLSConfiguration(minimumVersion: .tls13), exempt,
            TLSConfiguration.system.dangerouslyAcceptingInvalidCertificates(from: "localhost"),
        ]
        for tls in settings {
            let refusal = try #require(tls.refusalOfURLSessionOnLinux(nil))
            #expect(refusal.code == .unsupported)
            #expect(refusal.message.contains("CurlTransport"))
        }
    }

    @Test func systemSettingsAreTheDefaultOnes() {
        #expect(TLSConfiguration() == .system)
        #expect(TLSConfiguration.system.isPlain)
        #expect(TLSConfiguration(minimumVersion: .tls13).isPlain)
        #expect(!TLSConfiguration.pinned([CertificatePin]()).isPlain)
    }

    #if os(Linux)
    @Test func urlSessionTransportSendsNothingWithPins() async throws {
        let transport = URLSessionTransport(tls: .pinned([try CertificatePin(parsing: CertificatePinTests.text)]))
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let error = await #expect(throws: TransportError.self) { try await transport.send(HTTPRequest(url: url)) }
        #expect(error?.code == .unsupported)
    }
    #endif
}

/// A dictionary literal with equal keys would trap.
@Suite(.againstHanging) struct RepeatedHostPatternTests {
    private let pins = (0..<2).map { CertificatePin(.publicKey, digest: [UInt8](repeating: $0, count: 32)) }

    @Test func hostThatIsWrittenTwiceHasThePinsOfBoth() {
        let tls = TLSConfiguration.pinned(["API.example.com": [pins[0]], "api.example.com": [pins[1]]])
        #expect(tls.pins == ["api.example.com": pins])
        #expect(TLSConfiguration(pins: ["a.example": [pins[0]], "a.example.": [pins[1]]]).pins == ["a.example": pins])
    }

    @Test func pinsMayComeFromADictionary() {
        let pins: [HostPattern: [CertificatePin]] = ["api.example.com": pins]
        #expect(TLSConfiguration.pinned(pins).pins == pins)
    }
}
