import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

/// Resumed downloads over real connections, from servers that lie.
@Suite(.againstHanging, .heavy, .checksArchive) struct DownloadsOverSocketsTests {
    private let film = Data((0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    /// Bytes in the gzip format (RFC 1952), uncompressed.
    private func gzip(_ bytes: Data) -> Data {
        func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: number.littleEndian, Array.init)
        }
        var checksum: UInt32 = ~0
        for byte in bytes {
            checksum ^= UInt32(byte)
            for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        let length = UInt16(bytes.count)
        var file = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 1])
        file += littleEndian(length)
        file += littleEndian(~length)
        file += bytes
        file += littleEndian(~checksum)
        file += littleEndian(UInt32(bytes.count))
        return file
    }

    /// The request asks for content without codings, and the transport may decode what comes nevertheless. Whether it does or
    /// not, a coded range isn't taken, because its bounds may count coded bytes.
    @Test func rangesInACodingAreNotTaken() async throws {
        let server = try MockServer()
        let (film, requests) = (film, Tally())
        server.on(.get, "/film") { [self] request in
            let number = requests.count()
            let fields: HTTPFields = [.eTag: "\"1\"", .acceptRanges: "bytes"]
            if let range = request.headers[.range] {
                let bounds = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
                let end = bounds.count == 2 ? bounds[1] + 1 : film.count
                var fields = fields
                fields[.contentRange] = "bytes \(bounds[0])-\(end - 1)/\(film.count)"
                fields[.contentEncoding] = "gzip"
                return .status(206, headers: fields, body: gzip(film[bounds[0]..<end]))
            }
            if number > 1 { return .status(200, headers: fields, body: film) }
            let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\nContent-Length: 1000\r\n\r\n"
            return StubAnswer(steps: [.send(head), .send(film.prefix(400)), .close])
        }
        let folder = try TemporaryFolder()
        let client = Client(baseURL: server.url, interceptors: [.validateStatus()])
        let resuming = DownloadResuming.withinCall.trying(time: TimeSource(random: RandomSource { 0 }))
        try await client.download("/film", to: folder.file("film"), resuming: resuming)
        #expect(try Data(contentsOf: folder.file("film")) == film)
        let asked = server.requests.map { $0.headers.contains(.range) }
        #expect(asked.contains(true) && asked.last == false)
        #expect(server.requests.allSatisfy { $0.headers[.acceptEncoding] == "identity" })
    }
}
