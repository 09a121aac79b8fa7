#if os(Linux) || os(macOS)
import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging, .heavy) struct RecordingKillTests {
    /// Starts a process that records from a number on, and kills it: after some processor time, or once it has printed some lines.
    ///
    /// - Returns: the numbers of the exchanges that had finished.
    private func finishedBeforeDeath(
        _ file: URL,
        from first: Int,
        _ generator: inout SeededGenerator
    ) async throws -> [Int] {
        let byTimer = Bool.random(using: &generator)
        let microseconds = byTimer ? Int.random(in: 15_000..<90_000, using: &generator) : 0
        let lines = Int.random(in: 1..<60, using: &generator)
        let pipe = Pipe()
        let arguments = ["write", file.path, "\(first)", "\(microseconds)"]
        let child = try RecordingChild(arguments, output: pipe.fileHandleForWriting.fileDescriptor)
        try pipe.fileHandleForWriting.close()
        let reading = pipe.fileHandleForReading
        let text = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = Data()
                // `read(upToCount:)` would wait until that many bytes are there.
                while case let part = reading.availableData, !part.isEmpty {
                    text += part
                    if !byTimer, text.count(where: { $0 == 0x0A }) >= lines { child.kill() }
                }
                continuation.resume(returning: String(decoding: text, as: UTF8.self))
            }
        }
        let ending = await child.ends()
        #expect(ending == .signal(byTimer ? SIGPROF : SIGKILL))
        return text.split(separator: "\n").compactMap { Int($0) }
    }

    @Test func aKilledProcessLosesAtMostWhatHadNotFinished() async throws {
        let seed: UInt64 = 20
        var generator = SeededGenerator(seed: seed)
        var finished = 0
        // Ten processes, one after the other, share a file, so that each meets what the last one left.
        for file in 0..<FullLoad.count(2, full: 30) {
            let tape = try TapeFile()
            var numbers: Set<Int> = []
            for process in 0..<10 {
                let first = 100_000 * (process + 1)
                numbers.formUnion(try await finishedBeforeDeath(tape.url, from: first, &generator))
                let recorded = try TapeIndex.ofFile(tape.url).exchanges.map { try $0.expectWhole() }
                #expect(Set(recorded).count == recorded.count, "no exchange is there twice")
                #expect(numbers.isSubset(of: recorded), "seed \(seed), file \(file), process \(process)")
            }
            finished += numbers.count
            let played = tape.recording(.none)
            for number in numbers { #expect(try await played.numbered(number) == CacheFill.body(number, 1)) }
            try tape.recording(.new).finish(allowingUnused: true)
            #expect(tape.names == ["users.har"])
        }
        #expect(finished > FullLoad.count(40, full: 2_000), "the killed processes had recorded something: \(finished)")
    }
}
#endif
