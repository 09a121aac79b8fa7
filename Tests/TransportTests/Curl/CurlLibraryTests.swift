#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsURLSession
import Testing

@testable import InterceptorsTransport

/// Systems whose libcurl can't be used.
@Suite(.againstHanging) struct CurlLibraryTests {
    private static let missing = CurlLibrary.loader(ofLibraryAt: "/nowhere/libcurl.so.4")
    private static let pinned = TLSConfiguration.pinned([CurlPinningTests.otherPin])

    private func request(_ server: MockServer) -> HTTPRequest { HTTPRequest(url: server.url) }

    @Test func libraryOfTheSystemIsNeitherMissingNorTooOld() throws {
        try CurlLibrary.load()
        try CurlLibrary.loader(ofLibraryAt: "libcurl.so.4")()
    }

    @Test func missingLibraryIsNamedAtTheFirstCallWithWhatToInstall() async throws {
        let server = try MockServer()
        let transport = CurlTransport(.init(), load: Self.missing)
        for _ in 0..<2 {
            let error = try await failure { try await transport.send(request(server)) }
            #expect(error.code == .unsupported)
            #expect(error.message.contains("libcurl.so.4 was not found"))
            #expect(error.message.contains("libcurl4"))
        }
        await transport.shutDown()
        #expect(server.connectionsOpened == 0)
    }

    @Test func platformFallsBackToURLSessionWithoutTheLibrary() async throws {
        let server = try MockServer()
        server.on(.get, "/", .status(200, body: "hello"))
        let transport = PlatformTransport(tls: .system, timeouts: Timeouts(), loadCurl: Self.missing)
        #expect(transport.base is URLSessionTransport)
        let text = "\(transport)"
        #expect(text.contains("URLSessionTransport") && text.contains("libcurl.so.4 was not found"), "\(text)")
        #expect(try await content(of: transport.send(request(server))) == "hello")
    }

    @Test func platformWithoutTheLibraryAndURLSessionNamesTheLibraryAtEachCall() async throws {
        let server = try MockServer()
        let transport = PlatformTransport(tls: .system, timeouts: Timeouts(), loadCurl: Self.missing) { nil }
        let error = try await failure { try await transport.send(request(server)) }
        #expect(error.code == .unsupported)
        #expect(error.message.contains("libcurl.so.4 was not found"))
    }

    @Test func platformWithoutTheLibraryRefusesPlainURLsIfTLSIsRequired() async throws {
        let server = try MockServer()
        var tls = TLSConfiguration.system
        tls.isRequired = true
        let transport = PlatformTransport(tls: tls, timeouts: Timeouts(), loadCurl: Self.missing)
        #expect(transport.base is URLSessionTransport)
        let error = try await failure { try await transport.send(request(server)) }
        #expect(error.code == .tlsFailed)
        #expect(server.connectionsOpened == 0)
    }

    @Test func platformWithTLSSettingsFailsInsteadOfIgnoringThem() async throws {
        let server = try MockServer()
        for tls in [Self.pinned, TLSConfiguration(minimumVersion: .tls13), TLSConfiguration(trust: .only([]))] {
            let transport = PlatformTransport(tls: tls, timeouts: Timeouts(), loadCurl: Self.missing)
            let request = HTTPRequest(url: try #require(URL(string: "https://localhost:\(server.port)/")))
            let error = try await failure { try await transport.send(request) }
            #expect(error.code == .unsupported)
            #expect(error.message.contains("libcurl.so.4 was not found"))
        }
        #expect(server.connectionsOpened == 0)
    }

    @Test func platformIsCurlTransportWhereThereIsTheLibrary() {
        #expect(PlatformTransport().base is CurlTransport)
        #expect(PlatformTransport(tls: Self.pinned).base is CurlTransport)
        #expect("\(PlatformTransport())" == "PlatformTransport over CurlTransport")
    }

    /// Libraries built for the test. Each lacks one function or has an old version number, except the last.
    @Test(
        .enabled(if: Compiler.mustRun, Comment(rawValue: Compiler.absence)),
        arguments: [
            (without: "multi_wakeup", version: 0x075801, expected: "curl_multi_wakeup"),
            (without: "easy_pause", version: 0x075801, expected: "curl_easy_pause"),
            (without: "", version: 0x074F01, expected: "7.80"), (without: "", version: 0x075000, expected: nil),
        ]
    )
    func libraryThatIsTooOldSaysWhatItLacks(without: String, version: Int, expected: String?) async throws {
        let folder = try TemporaryFolder()
        let shim = try String(
            contentsOf: Repository.root.appending(path: "Sources/CCurl/CCurl.c"),
            encoding: .utf8
        )
        let names = shim.matches(of: /RESOLVE\((\w+)\)\n/).map { String($0.1) }.filter { $0 != "name" }
        #expect(names.count > 15)
        var source = "static struct { int age; const char *version; unsigned number; } info = {0, \"\", \(version)};\n"
        source += "void *curl_version_info(int age) { return &info; }\n"
        for name in names where name != without && name != "version_info" { source += "void curl_\(name)(void) {}\n" }
        let library = folder.file("libcurl.so.4").path
        let compiler = try await Compiler.buildLibrary(source, at: library)
        try #require(compiler.status == 0, "\(compiler.complaint)")

        guard let expected else { return try CurlLibrary.loader(ofLibraryAt: library)() }
        let transport = CurlTransport(.init(), load: CurlLibrary.loader(ofLibraryAt: library))
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let error = try await failure { try await transport.send(HTTPRequest(url: url)) }
        #expect(error.code == .unsupported)
        #expect(error.message.contains("too old"))
        #expect(error.message.contains(expected))
    }

    @Test(arguments: [
        ("GnuTLS/3.7.9", true), ("GnuTLS/3.7.9 (OpenSSL/3.0.15)", true), ("(OpenSSL/3.0.15) GnuTLS/3.7.9", true),
        ("wolfSSL/5.6", false), ("NSS/3.8", false), ("mbedTLS/2.28", true), ("", true), ("OpenSSL/1.1.1w", false),
        ("BoringSSL", true), ("LibreSSL/3.8", true),
    ])
    func libcurlWithAnotherTLSLibraryRefusesToPin(libraries: String, isShared: Bool) throws {
        let refusal = try #require(CurlTLS.refusal(libraries: libraries, isShared: isShared))
        #expect(refusal.code == .unsupported)
        #expect(refusal.message.contains("libcurl4"))
        #expect(refusal.message.contains(libraries.isEmpty ? "none" : libraries))
    }

    @Test(arguments: ["OpenSSL/3.0.15", "(GnuTLS/3.7.9) OpenSSL/3.0.15", "OpenSSL/3.2.1+quic"])
    func libcurlWithTheSystemsOpenSSLPins(libraries: String) {
        #expect(CurlTLS.refusal(libraries: libraries, isShared: true) == nil)
    }

    /// libcurl 7.88 loses the zone of an address that it has parsed before, so a link-local host becomes unreachable.
    @Test func anAddressIsReadForEachRequest() throws {
        try CurlLibrary.load()
        var easy = try #require(EasyHandle())
        defer { easy.free() }
        for (url, isRead, usesReadURL) in [
            ("http://a.example/", true, true), ("http://[fe80::1%25lo]/", true, false),
            ("http://127.0.0.1/", true, true),
            ("http://[fe80", false, true), ("http://127.0.0.1/", true, true),
        ] {
            let couldRead = easy.setTarget(url)
            #expect(couldRead == isRead && easy.usesReadURL == usesReadURL, "\(url)")
        }
    }
}
#endif
