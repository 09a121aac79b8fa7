import Foundation
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct ChunkingTests {
    @Test(arguments: [0, 1, 2, 63, 1_000, 100_000])
    func chunksAreTheContent(count: Int) {
        let content = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) })
        for chunking in Chunking.all(seed: 1) {
            let chunks = chunking.chunks(of: content)
            #expect(chunks.reduce(Data(), +) == content && !chunks.contains(where: \.isEmpty), "\(chunking.name)")
            #expect(chunks.count <= 16_384, "\(chunking.name)")
        }
    }

    @Test func aSeedRepeatsTheBorders() {
        let content = Data(repeating: 1, count: 5_000)
        func sizes(_ seed: UInt64) -> [[Int]] { Chunking.all(seed: seed).map { $0.chunks(of: content).map(\.count) } }
        #expect(sizes(3) == sizes(3))
        #expect(sizes(3) != sizes(4))
        #expect(sizes(3).prefix(2) == [[5_000], Array(repeating: 1, count: 5_000)])
    }

    /// Each line end, and each character, of the samples may be cut somewhere.
    @Test func samplesHaveWhatTransformersChange() throws {
        let samples = ContentSample.all(with: Data("own".utf8))
        #expect(samples.first?.content == Data("own".utf8))
        let text = try #require(samples.first { $0.name == "text" }).content
        for part in ["\r\n", "\r\r\n", "\n\r\n\r", "\u{1F469}\u{200D}\u{1F680}", "o\u{301}"] {
            #expect(text.range(of: Data(part.utf8)) != nil, "\(part.debugDescription)")
        }
        let json = try #require(samples.first { $0.name == "JSON" }).content
        #expect((try JSONSerialization.jsonObject(with: json) as? [Any])?.count == 12)
        let binary = try #require(samples.first { $0.name == "binary content" }).content
        #expect(Set(binary).count == 256)
    }
}
