#if os(Linux)
import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct GatheredBodyTests {
    private static func append(_ bytes: Data, to body: inout GatheredBody) -> Bool {
        bytes.withUnsafeBytes { body.append($0) }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>, [nil, 0, 1, 5_000, 1_000_000])
    func whatGoesInComesOut(seed: UInt64, announced: Int?) {
        var generator = SeededGenerator(seed: seed)
        var body = GatheredBody()
        if let announced { body.reserve(announced) }
        var expected = Data()
        for _ in 0..<Int.random(in: 0...60, using: &generator) {
            let byte = UInt8.random(in: 0...255, using: &generator)
            let bytes = Data(repeating: byte, count: Int.random(in: 0...3_000, using: &generator))
            #expect(Self.append(bytes, to: &body))
            expected += bytes
            #expect(body.count == expected.count)
        }
        #expect(body.take() == expected)
        #expect(body.count == 0)
        #expect(body.take() == Data())
    }

    @Test(arguments: [nil, 50 << 20, 100 << 20])
    func whatIsLongIsWhole(announced: Int?) {
        var body = GatheredBody()
        if let announced { body.reserve(announced) }
        var piece = Data(count: 700_001)
        for index in 0..<100 {
            piece[0] = UInt8(index)
            #expect(Self.append(piece, to: &body))
        }
        let data = body.take()
        #expect(data.count == 70_000_100)
        for index in 0..<100 {
            piece[0] = UInt8(index)
            #expect(data[(index * 700_001)..<((index + 1) * 700_001)] == piece)
        }
    }

    @Test func moreThanThereIsMemoryForIsNoRoomAndNoTrap() {
        var body = GatheredBody()
        body.reserve(.max)
        body.reserve(1 << 62)
        #expect(Self.append(Data("content".utf8), to: &body))
        #expect(body.take() == Data("content".utf8))
    }

    @Test func whatWasTakenCanBeChangedAndExtended() {
        var body = GatheredBody()
        #expect(Self.append(Data(repeating: 1, count: 100_000), to: &body))
        var data = body.take()
        data[0] = 2
        data.append(Data(repeating: 3, count: 100_000))
        #expect(data == Data([2]) + Data(repeating: 1, count: 99_999) + Data(repeating: 3, count: 100_000))
        // The next content uses separate memory.
        #expect(Self.append(Data(repeating: 4, count: 100_000), to: &body))
        #expect(data[0] == 2)
        #expect(body.take() == Data(repeating: 4, count: 100_000))
    }
}
#endif
