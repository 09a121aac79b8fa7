import Foundation
import TestSupport
import Testing

@testable import Middlewares

@Suite(.againstHanging) struct TransactionIDInterceptorTests {
    private func send(_ interceptors: [any Interceptor], fields: HTTPFields = [:]) async throws -> [HTTPFields] {
        let recorder = Recorder()
        let request = HTTPRequest(url: try url("https://example.com"), headerFields: fields)
        _ = try await InterceptorChain(interceptors, transport: recorder).send(request)
        return recorder.requests.map(\.headerFields)
    }

    @Test func setsAFreshIDForEachRequest() async throws {
        let first = try await send([.transactionID()])[0]["TransactionId"]
        let second = try await send([.transactionID()])[0]["TransactionId"]
        #expect(UUID(uuidString: try #require(first)) != nil)
        #expect(first != second)
    }

    @Test func theFieldsNameAndTheGeneratorAreTheUsers() async throws {
        let fields = try await send([.transactionID(named: "X-Request-ID") { "abc" }])
        #expect(fields == [["X-Request-ID": "abc"]])
        #expect(fields[0].first?.name.rawName == "X-Request-ID")
    }

    @Test func aRequestThatCarriesTheFieldKeepsIt() async throws {
        let calls = Tally()
        let interceptor = TransactionIDInterceptor { "\(calls.count())" }
        #expect(try await send([interceptor], fields: ["transactionid": "mine"]) == [["TransactionId": "mine"]])
        #expect(calls.value == 0)
    }

    @Test func outsideARetryOneIDServesAllAttempts() async throws {
        let ids = try await send([.transactionID(), sendTwice]).map { $0[values: .transactionID] }
        #expect(ids.count == 2)
        #expect(ids[0].count == 1)
        #expect(ids[0] == ids[1])
    }

    @Test func insideARetryEachAttemptHasAnIDOfItsOwn() async throws {
        let ids = try await send([sendTwice, .transactionID()]).map { $0[values: .transactionID] }
        #expect(ids.count == 2)
        #expect(ids.allSatisfy { $0.count == 1 })
        #expect(ids[0] != ids[1])
    }

    @Test func anIDWithALineBreakIsRefusedBeforeAnythingIsSent() async throws {
        let recorder = Recorder { request in
            try request.validate()
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain([.transactionID { "a\r\nX-Evil: 1" }], transport: recorder)
        await #expect(throws: TransportError.self) { try await chain.send(HTTPRequest(url: try url("https://e.com"))) }
    }

    @Test func sharedInterceptorGivesConcurrentRequestsDifferentIDs() async throws {
        let recorder = Recorder()
        let chain = InterceptorChain([.transactionID()], transport: recorder)
        let request = HTTPRequest(url: try url("https://example.com"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { _ = try await chain.send(request) } }
            try await group.waitForAll()
        }
        #expect(Set(recorder.requests.map { $0.headerFields[.transactionID] }).count == 500)
    }
}

@Suite(.againstHanging) struct UUIDSequenceTests {
    @Test func textIsAVersion4UUIDInLowerCase() throws {
        for _ in 0..<1_000 {
            let text = TransactionIDInterceptor.uuid()
            #expect(text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
            #expect(UUID(uuidString: text)?.uuidString.lowercased() == text)
        }
    }

    @Test(arguments: [(UInt64.min, UInt64.min), (.max, .max), (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)])
    func everyBitStandsAtItsPlaceInTheText(high: UInt64, low: UInt64) throws {
        let text = UUIDText(high: high, low: low).description
        var bytes = zeroUUID
        withUnsafeMutableBytes(of: &bytes) {
            $0.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
            $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        #expect(text == UUID(uuid: bytes).uuidString.lowercased())
    }

    @Test func aMillionAcrossEightTasksAreUnique() async throws {
        let all = await withTaskGroup(of: [UUIDText].self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<125_000).map { _ in UUIDSequence.shared.next() } }
            }
            return await group.reduce(into: Set<UUIDText>()) { $0.formUnion($1) }
        }
        #expect(all.count == 1_000_000)
    }

    @Test func differentCountsNeverGiveOneUUIDWhateverTheKeys() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<20 {
            let sequence = UUIDSequence(using: &generator)
            let counts: [UInt64] = (0..<500).map { $0 } + (1..<500).map { (1 << 61) - $0 } + (0..<61).map { 1 << $0 }
            let uuids = counts.map { sequence.uuid(at: $0) }
            #expect(Set(uuids).count == Set(counts).count)
        }
    }

    // Each free bit is set in about half of the UUIDs, and consecutive UUIDs differ in about half of these bits.
    @Test func bitsAreWellMixed() throws {
        var generator = SeededGenerator(seed: 1)
        let sequence = UUIDSequence(using: &generator)
        let sample = (0..<4_096).map { sequence.uuid(at: $0) }
        for bit in 0..<64 {
            let high = sample.count { $0.high >> UInt64(bit) & 1 == 1 }
            let low = sample.count { $0.low >> UInt64(bit) & 1 == 1 }
            if !(12...15 ~= bit) { #expect(1_800...2_300 ~= high, "high bit \(bit)") }
            if bit < 62 { #expect(1_800...2_300 ~= low, "low bit \(bit)") }
        }
        let changes = zip(sample, sample.dropFirst())
            .map { ($0.high ^ $1.high).nonzeroBitCount + ($0.low ^ $1.low).nonzeroBitCount }
        #expect(57...65 ~= changes.reduce(0, +) / changes.count)
    }

    @Test func anotherSeedGivesOtherUUIDs() throws {
        var generator = SeededGenerator(seed: 3)
        let first = UUIDSequence(using: &generator)
        let second = UUIDSequence(using: &generator)
        let uuids = (0..<1_000).flatMap { [first.uuid(at: $0), second.uuid(at: $0)] }
        #expect(Set(uuids).count == 2_000)
    }
}

private let zeroUUID: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
