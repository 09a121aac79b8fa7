import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct HARArchivePropertyTests {
    @Test func randomExchangesAreReadAsTheyWereWritten() throws {
        let seed = DailySeed.value
        var source = RandomExchanges(seed: seed)
        for round in 0..<FullLoad.count(10, full: 100) {
            let exchanges = (0..<100).map { _ in source.next() }
            let archive = HARArchive.encode(exchanges)
            let read = try HARArchive.decode(archive)
            try #require(read.count == exchanges.count, "seed \(seed), round \(round)")
            for (exchange, other) in zip(exchanges, read) where exchange != other {
                Issue.record("seed \(seed), round \(round): \(exchange) was read as \(other)")
                return
            }
            #expect(HARArchive.encode(read) == archive, "seed \(seed), round \(round)")
        }
    }

    #if os(Linux) || os(macOS)
    @Test(.enabled("\(JournalOutput.noHARTools)", JournalOutput.mustCheckHAR))
    func randomExchangesPassTheSchema() async throws {
        let seed = DailySeed.value
        var source = RandomExchanges(seed: seed)
        let result = try await JournalOutput.check(har: HARArchive.encode((0..<500).map { _ in source.next() }))
        #expect(result.status == 0, "seed \(seed): \(String(decoding: result.errors, as: UTF8.self))")
    }
    #endif

    @Test func noMutationOfAnArchiveEndsTheProcess() throws {
        let seed = DailySeed.value
        var random = SeededGenerator(seed: seed)
        var source = RandomExchanges(seed: seed)
        let own = (0..<20).map { _ in Array(HARArchive.encode((0..<3).map { _ in source.next() })) }
        let archives = own + ForeignArchives.all.map { Array($0.utf8) }
        let tokens = [
            "{", "}", "[", "]", "\"", ",", ":", "null", "-1", "1e999", "999999999999999999999", "\\ud800", "true",
            "[[[[",
        ]
        .map { Array($0.utf8) }
        var (read, refused) = (0, 0)
        for _ in 0..<FullLoad.count(1_500, full: 10_000) {
            var bytes = random.oneOf(archives)
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.insert(contentsOf: random.oneOf(tokens), at: index)
                case 2: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...40, using: &random)))
                case 3: bytes = Array(bytes[..<max(1, index)])
                default:
                    // A value of another type in place of a value.
                    guard let colon = bytes[index...].firstIndex(of: UInt8(ascii: ":")),
                        let end = bytes[colon...].firstIndex(where: {
                            $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}")
                        })
                    else { continue }
                    bytes.replaceSubrange((colon + 1)..<end, with: random.oneOf(tokens))
                }
                if bytes.isEmpty { bytes = [0x20] }
            }
            do {
                let exchanges = try HARArchive.decode(Data(bytes))
                for exchange in exchanges { _ = exchange.answer(now: .distantFuture) }
                read += 1
            } catch let error as TransportError {
                #expect(error.code == .unreadableFile, "seed \(seed)")
                refused += 1
            }
        }
        #expect(read > 50 && refused > 50, "seed \(seed): \(read), \(refused)")
    }

    @Test func deepNestingIsRefused() {
        let deep = Data(String(repeating: "[", count: 1_000_000).utf8)
        #expect(throws: TransportError.self) { try HARArchive.decode(deep) }
        let nested = Data((#"{"log":{"entries":"# + String(repeating: "[", count: 300)).utf8)
        #expect(throws: TransportError.self) { try HARArchive.decode(nested) }
    }
}
