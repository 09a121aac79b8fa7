import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// If a FIFO takes the place of a file, nobody waits for its other end.
@Suite(.againstHanging) struct RegularFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func fifo(_ name: String) throws -> URL {
        let url = folder.file(name)
        unlink(url.path)
        try #require(mkfifo(url.path, 0o600) == 0)
        return url
    }

    @Test(.againstHanging)
    func whatIsNoRegularFileIsRefusedAtOnce() throws {
        for url in [try fifo("fifo"), folder.file("missing"), folder.file("missing").deletingLastPathComponent()] {
            #expect(throws: POSIXError.self) { try RegularFile.contents(of: url) }
        }
        let file = try folder.write(Data("content".utf8))
        #expect(try RegularFile.contents(of: file) == Data("content".utf8))
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        #expect(try RegularFile.contents(of: link) == Data("content".utf8))
        #expect(throws: POSIXError.self) { try RegularFile.contents(of: URL(string: "https://example.com/")!) }
    }

    @Test(.againstHanging)
    func fileOfABodyThatBecomesAFIFOFailsTheReading() async throws {
        let url = try folder.write(Data("content".utf8))
        let body = try HTTPBody(file: url)
        _ = unlink(url.path)
        try #require(mkfifo(url.path, 0o600) == 0)
        let error = await #expect(throws: TransportError.self) { try await body.collect(upTo: 100) }
        #expect(error?.code == .unreadableFile)
        #expect(throws: TransportError.self) { try HTTPBody(file: url) }
        await #expect(throws: TransportError.self) { try await HTTPBody("x").write(to: url, upTo: 10) }
    }

    @Test(.againstHanging)
    func fifoInThePlaceOfACertificateAKeyOrAPinListIsRefused() throws {
        let url = try fifo("fifo")
        #expect(throws: TransportError.self) { try TLSCertificate.all(in: url) }
        #expect(throws: TransportError.self) { try ClientIdentity(certificate: url, privateKey: url) }
        #expect(PinListFile(url: url).read(keys: []) == nil)
    }
}
