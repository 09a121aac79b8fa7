#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct CurlProxyTests {
    private static func transport(_ proxy: CurlTransport.Proxy) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = proxy
        return CurlTransport(configuration)
    }

    private static func request(_ text: String = "http://elsewhere.invalid/path?x=1") throws -> HTTPRequest {
        HTTPRequest(url: try #require(URL(string: text)))
    }

    @Test func configuredProxyGetsTheWholeURLAndItsCredentials() async throws {
        let proxy = try MockServer()
        proxy.on(nil, "/**", .status(200, body: "by proxy"))
        let url = try #require(URL(string: "http://ada:sesame@127.0.0.1:\(proxy.port)"))
        let transport = Self.transport(.url(url))
        #expect(try await content(of: transport.send(Self.request())) == "by proxy")
        let received = try #require(proxy.requests.first)
        #expect(received.target == "http://elsewhere.invalid/path?x=1")
        #expect(received.headers[.proxyAuthorization] == "Basic \(Data("ada:sesame").base64EncodedString())")
    }

    @Test func proxyThatRefusesATunnelIsAnErrorThatSaysSo() async throws {
        let proxy = try MockServer()
        proxy.enqueue(.status(403, headers: ["X-Proxy": "1"], body: "No."))
        let url = try #require(URL(string: "http://ada:sesame@127.0.0.1:\(proxy.port)"))
        let error = try await failure {
            try await Self.transport(.url(url)).send(Self.request("https://elsewhere.invalid/path"))
        }
        #expect(error.code == .cannotConnect)
        #expect(error.message.contains("403"))
        #expect(!"\(error)".contains("sesame"))
        #expect(proxy.requests.map(\.method) == [.connect])
        #expect(proxy.requests.map(\.target) == ["elsewhere.invalid:443"])
    }

    @Test func pinsHoldThroughTheTunnelOfAProxyAndItsFieldsAreNotTheServers() async throws {
        let fixture = try TLSFixture()
        let proxy = try TunnelProxy()
        func send(_ pin: CertificatePin) async throws -> HTTPResponse {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .url(proxy.url)
            configuration.tls = .pinned([pin], trust: fixture.trust)
            return try await CurlTransport(configuration).send(fixture.request())
        }
        let response = try await send(fixture.intermediate.certificate.publicKeyPin)
        #expect(try await content(of: response) == "hello")
        #expect(!response.headers.contains("X-Proxy") && !response.headers.contains(.setCookie))
        let error = try await failure { try await send(CurlPinningTests.otherPin) }
        #expect(error.underlying is PinningError)
        #expect(fixture.server.requests.count == 1)
    }

    @Test func proxyThatIsNotThereIsAnErrorWithoutItsPassword() async throws {
        let port = try UnusedPort()
        defer { withExtendedLifetime(port) {} }
        let url = try #require(URL(string: "http://ada:sesame@127.0.0.1:\(port.number)"))
        let error = try await failure { try await Self.transport(.url(url)).send(Self.request()) }
        #expect(error.code == .cannotConnect)
        #expect(!"\(error)".contains("sesame"))
    }

    /// Each text contains a user name and a password. libcurl can parse some of the texts.
    static let oddTexts = [
        "http://ada7:sesame@x@127.0.0.1:1", "http://ada7:ses/ame@127.0.0.1:1", "http://ada7:ses#ame@127.0.0.1:1",
        "http://ada7:ses?ame@127.0.0.1:1", "http://ada7:ses ame@127.0.0.1:1", "http://ada7:sesame@127.0.0.1:99999",
        "http://ada7:sesame@127.0.0.1:port", "gopher://ada7:sesame@127.0.0.1:1", "ada7:sesame@x@127.0.0.1:1",
        "http://ada7:12#sesame@127.0.0.1:1", "http://ada7:sesame@[::1", "http://ada7:ses\\ame@127.0.0.1:1",
        "http://sesame@ada7@127.0.0.1:1", "http://ada7:sesame@", "http://ada7:sesame@127.0.0.1:1/ada7?sesame",
        "https://ada7:sesame@127.0.0.1:1", "socks5h://ada7:sesame@127.0.0.1:1", "http://ada7:ses%61me@127.0.0.1:1",
        "http:///ada7:sesame@127.0.0.1:1", "http:ada7:sesame@127.0.0.1:1", "://ada7:sesame@127.0.0.1:1",
    ]

    private static func expectNoSecret(_ error: TransportError, _ text: String) {
        for secret in ["ada7", "sesame", "ses", "ame@", "12"] where secret != "12" || text.contains(":12#") {
            #expect(!"\(error)".contains(secret), "\(text): \(error)")
        }
    }

    // Foundation refuses some of the texts, so no configuration can contain them; which ones depends on its version.
    private static let oddURLs = oddTexts.compactMap { URL(string: $0) }

    @Test func mostOfTheOddTextsAreURLs() { #expect(Self.oddURLs.count > Self.oddTexts.count / 2) }

    @Test(arguments: oddURLs)
    func nothingOfAnOddProxyIsRevealed(url: URL) async throws {
        let transport = Self.transport(.url(url))
        for target in ["http://elsewhere.invalid/", "https://elsewhere.invalid/"] {
            let error = try await failure { try await transport.send(Self.request(target)) }
            Self.expectNoSecret(error, url.absoluteString)
        }
        #expect(!"\(CurlTransport.Proxy.url(url))".contains("sesame"))
    }

    @Test(arguments: [
        ("http://ada:12#34@127.0.0.1:1", "percent-encoded"),
        ("http://127.0.0.1:99999", "127.0.0.1:99999"), ("gopher://127.0.0.1:1", "gopher"),
    ])
    func proxyThatCannotBeReadIsRefused(text: String, part: String) async throws {
        let url = try #require(URL(string: text))
        let error = try await failure { try await Self.transport(.url(url)).send(Self.request()) }
        #expect(error.code == .unsupported)
        #expect(error.message.contains(part), "\(error)")
    }

    @Test(arguments: ["http://ada:sesame@127.0.0.1:8080", "ada:sesame@127.0.0.1:8080", "socks5h://ada:sesame@[::1]"])
    func passwordOfAProxyIsNotPrinted(url: String) throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(try #require(URL(string: url)))
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration.proxy)", "\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("sesame") && !text.contains("ada"), "\(text)")
        }
        #expect("\(configuration.proxy)".contains(url.suffix(4)))
    }

    #if compiler(>=6.3)
    @Test func nothingOfAnOddProxyOfTheEnvironmentIsRevealed() async {
        await #expect(processExitsWith: .success) {
            for name in ["https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
                unsetenv(name)
            }
            for text in Self.oddTexts {
                setenv("http_proxy", text, 1)
                let transport = CurlTransport()
                let error = try await failure { try await transport.send(Self.request()) }
                Self.expectNoSecret(error, text)
                await transport.shutDown()
            }
            setenv("http_proxy", "http://ada7:sesame@x@127.0.0.1:1", 1)
            let error = try await failure { try await CurlTransport().send(Self.request()) }
            #expect(error.code == .unsupported)
            #expect(error.message.contains("percent-encoded"))
        }
    }

    // The environment belongs to the whole process, so the test runs in a separate one.
    @Test func environmentNamesTheProxyAndItsExceptions() async throws {
        let proxy = try MockServer()
        proxy.on(nil, "/**", .status(200, body: "by proxy"))
        let direct = try MockServer()
        direct.on(nil, "/**", .status(200, body: "direct"))
        await #expect(processExitsWith: .success) { [proxy = proxy.port as Int, direct = direct.port as Int] in
            for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
                unsetenv(name)
            }
            func text(_ choice: CurlTransport.Proxy, _ host: String, _ port: Int) async throws -> String {
                let response = try await Self.transport(choice).send(Self.request("http://\(host):\(port)/"))
                return try await content(of: response)
            }
            #expect(try await text(.environment, "127.0.0.1", direct) == "direct")
            setenv("http_proxy", "http://127.0.0.1:\(proxy)", 1)
            #expect(try await text(.environment, "127.0.0.1", direct) == "by proxy")
            #expect(try await text(.none, "127.0.0.1", direct) == "direct")
            setenv("no_proxy", "example.com,127.0.0.1", 1)
            #expect(try await text(.environment, "127.0.0.1", direct) == "direct")
            #expect(try await text(.environment, "elsewhere.invalid", direct) == "by proxy")
            // A proxy set in the configuration applies regardless of the environment's exceptions.
            let url = try #require(URL(string: "http://127.0.0.1:\(proxy)"))
            #expect(try await text(.url(url), "127.0.0.1", direct) == "by proxy")
        }
        #expect(direct.requests.count == 3)
    }
    #endif
}
#endif
