import Foundation
import InterceptorsRecordings
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

/// The transports that a background session can replace, and the requests that it can send.
@Suite(.againstHanging) struct SessionReplacementTests {
    private static let key: HTTPField.Name = "X-Api-Key"

    private static var strict: TLSConfiguration {
        var strict = TLSConfiguration.system
        strict.minimumVersion = .tls13
        return strict
    }

    private static var required: TLSConfiguration {
        var required = TLSConfiguration.system
        required.isRequired = true
        return required
    }

    private static var settings: [TLSConfiguration] {
        let pin = CertificatePin(stringLiteral: "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        return [
            .pinned([pin]), strict, TLSConfiguration(trust: .only([])),
            TLSConfiguration.system.dangerouslyAcceptingInvalidCertificates(from: "localhost"),
            TLSConfiguration.system.checkingServers { _, _, _ in },
        ]
    }

    /// The transports over the network with these settings.
    private static func networks(_ tls: TLSConfiguration) -> [any Transport] {
        var networks: [any Transport] = [.platform(tls: tls), .urlSession(tls: tls)]
        #if os(Linux)
        networks.append(CurlTransport(tls: tls))
        #endif
        return networks
    }

    /// The ways in which a transport can be wrapped without a change of its requests.
    private static func wrapped(_ transport: any Transport) -> [any Transport] {
        let file = URL(filePath: "/videos/film.har")
        return [
            transport, InterceptorChain([], transport: transport),
            Client(interceptors: [], transport: InterceptorChain([.retry()], transport: transport)),
            .launchStubs(allowed: false, otherwise: transport),
            SwitchingTransport(["remote": transport], source: "remote"),
            .recorded(Recording(at: file, mode: .live), over: transport),
        ]
    }

    private func refusal(_ transport: any Transport) -> TransferError? {
        do throws(TransferError) {
            _ = try SessionReplacement(of: Client(interceptors: [], transport: transport))
            return nil
        } catch {
            return error
        }
    }

    @Test func settingsBeyondTheSystemsAreRefusedInsideEveryWrapper() {
        for tls in Self.settings {
            for transport in Self.networks(tls).flatMap(Self.wrapped) {
                let error = refusal(transport)
                #expect(error?.code == .unsupported && error?.sentNothing == true)
                #expect(error?.message.contains("doesn't ignore") == true)
            }
        }
    }

    @Test func settingsOfTheSystemAreReplacedInsideEveryWrapper() {
        for tls in [TLSConfiguration.system, Self.required] {
            for transport in Self.networks(tls).flatMap(Self.wrapped) { #expect(refusal(transport) == nil) }
        }
    }

    @Test func transportsWhoseSettingsOrAnswersWouldBeIgnoredAreRefused() {
        let file = URL(filePath: "/videos/film.har")
        let transports: [any Transport] = [
            StubTransport(), StubTransport(fallback: .platform()), .samples, HeldTransport(),
            SwitchingTransport(["remote": .platform(), "local": StubTransport()], source: "remote"),
            SwitchingTransport(["remote": .platform(), "strict": .platform(tls: Self.strict)], source: "remote"),
            SwitchingTransport([:], source: "remote"),
            .recorded(Recording(at: file, mode: .new), over: .platform()),
            .launchStubs(allowed: true, otherwise: .platform(), arguments: ["--interceptors-stubs=[]"]),
            .launchStubs(allowed: true, otherwise: .platform(), arguments: ["--interceptors-stubs=damaged"]),
        ]
        for transport in transports { #expect(refusal(transport)?.code == .unsupported) }
        #expect(refusal(HeldTransport())?.message.contains("HeldTransport") == true)
    }

    @Test func settingsOfTheConfigurationThatASessionCannotTakeOverAreRefused() {
        let field: any Transport = .urlSession { $0.httpAdditionalHeaders = ["X-Api-Key": "secret"] }
        #expect(refusal(field)?.message.contains("X-Api-Key") == true)
        #expect(refusal(field)?.message.contains("secret") == false)
        #expect(refusal(.urlSession { $0.httpAdditionalHeaders = ["Authorization": "secret"] }) != nil)
        #expect(refusal(.urlSession { $0.httpAdditionalHeaders = ["User-Agent": "Films/1"] }) == nil)
        #expect(refusal(.urlSession { $0.protocolClasses = [] })?.message.contains("protocolClasses") == true)
    }

    @Test func otherSettingsOfTheConfigurationAreTakenOver() throws {
        let transport = URLSessionTransport(
            configure: { configuration in
                configuration.allowsCellularAccess = false
                configuration.httpMaximumConnectionsPerHost = 2
                configuration.httpAdditionalHeaders = ["User-Agent": "Films/1"]
                configuration.connectionProxyDictionary = ["HTTPProxy": "proxy.example.com"]
                configuration.httpCookieStorage = .shared
                configuration.urlCredentialStorage = .shared
            },
            prepare: { urlRequest, _ in urlRequest.networkServiceType = .background }
        )
        let configuration = transport.configured(.default)
        #expect(!configuration.allowsCellularAccess && configuration.httpMaximumConnectionsPerHost == 2)
        #expect(configuration.httpAdditionalHeaders?["User-Agent"] as? String == "Films/1")
        #expect(configuration.connectionProxyDictionary?["HTTPProxy"] as? String == "proxy.example.com")
        #expect(configuration.httpCookieStorage == nil && configuration.urlCredentialStorage == nil)
        #expect(configuration.urlCache == nil)
        #expect(try transport.urlRequest(for: request()).networkServiceType == .background)
    }

    /// The system tries a background task again when its request's time limit passes: a year means never.
    @Test func requestOfABackgroundSessionIsTriedAgainAfterAMinuteOfSilence() throws {
        let transport = URLSessionTransport(configure: { $0.timeoutIntervalForRequest = 5 })
        #expect(transport.configured(.default).timeoutIntervalForRequest == 60)
        #expect(try transport.urlRequest(for: request()).timeoutInterval == 60)
    }

    @Test func requiredTLSRefusesARequestWithoutIt() throws {
        let client = Client(interceptors: [], transport: .platform(tls: Self.required))
        let replacement = try SessionReplacement(of: client)
        try replacement.check(request())
        let error = #expect(throws: TransportError.self) {
            try replacement.check(request(URL(string: "http://api.example.com/v1/film")!))
        }
        #expect(error?.code == .tlsFailed)
    }

    @Test(arguments: ["X-Api-Key", "Cookie", "Proxy-Authorization", "Host", "X-Session-Token"])
    func fieldThatARedirectCouldCarryElsewhereIsRefusedUnlessAllowed(name: String) throws {
        let name = try #require(HTTPField.Name(name))
        var given = request()
        given.headers[name] = "hush"
        let client = Client(interceptors: [])
        let error = #expect(throws: TransferError.self) {
            try SessionReplacement(of: client).check(given)
        }
        #expect(error?.code == .unsupported && error?.message.contains(name.rawName) == true)
        #expect(error.map { "\($0)".contains("hush") } == false)
        try SessionReplacement(of: client, fieldsOnRedirects: [name]).check(given)
    }

    @Test func authorizationAndOtherFieldsAreNotRefused() throws {
        var given = request()
        given.headers = [.authorization: "Bearer token", .accept: "*/*", .transactionID: "1"]
        try SessionReplacement(of: Client(interceptors: [])).check(given)
    }

    @Test func fieldsThatTheChainKeepsFromOtherOriginsAreRefusedToo() throws {
        var given = request()
        given.headers["X-Door"] = "hush"
        try SessionReplacement(of: Client(interceptors: [])).check(given)
        let redaction = Redaction.standard.adding(names: ["X-Door"])
        let client = Client(interceptors: [.followRedirects(redaction: redaction)])
        #expect(throws: TransferError.self) { try SessionReplacement(of: client).check(given) }
    }
}
