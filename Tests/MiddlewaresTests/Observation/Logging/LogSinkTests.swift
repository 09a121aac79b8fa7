import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct LogSinkTests {
    @Test func entriesOfManyTasksAreWrittenWholeAndNotMingled() async throws {
        let pipe = Pipe()
        let sink = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        // An entry is longer than a pipe accepts in one write.
        let lines = String(repeating: "\n    line", count: 2_000)
        let reading = Task.detached { try pipe.fileHandleForReading.readToEnd() ?? Data() }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let number = UInt64(number)
                    sink.write(LogEntry(event: .request, number: number, text: "\(number):\(lines):\(number)"))
                }
            }
        }
        try pipe.fileHandleForWriting.close()
        var text = String(decoding: try await reading.value, as: UTF8.self)[...]
        var numbers: Set<Int> = []
        while !text.isEmpty {
            let number = try #require(Int(text.prefix { $0 != ":" }))
            let entry = "\(number):\(lines):\(number)\n"
            try #require(text.hasPrefix(entry))
            text = text.dropFirst(entry.count)
            numbers.insert(number)
        }
        #expect(numbers == Set(0..<64))
    }

    @Test func aDescriptorThatIsClosedLosesTheEntryAndNothingElse() {
        LogSink(descriptor: -1).write(LogEntry(event: .request, number: 1, text: "lost"))
    }

    @Test func aLongEntryIsCutBetweenItsLines() {
        let text = "--> #3 GET /\n    aaaa\n    bbbb\n    cccc"
        let entry = LogEntry(event: .request, number: 3, text: text)
        #expect(entry.parts(ofAtMost: 1_000) == [text])
        #expect(
            entry.parts(ofAtMost: 24) == ["--> #3 GET /\n    aaaa", "#3, part 2\n    bbbb", "#3, part 3\n    cccc"]
        )
    }

    @Test func aLongLineIsCutButNeverWithinACharacter() {
        let text = String(repeating: "é😀", count: 1_000)
        let parts = LogEntry(event: .request, number: 3, text: text).parts(ofAtMost: 50)
        #expect(parts.allSatisfy { $0.utf8.count <= 50 + "#3, part 200\n".utf8.count })
        #expect(parts[0] + parts.dropFirst().map { $0.drop { $0 != "\n" }.dropFirst() }.joined() == text)
        #expect(LogEntry(event: .request, number: 3, text: text).parts(ofAtMost: 0).count > 1)
    }

    @Test(arguments: [
        (Duration.zero, "0 µs"), (.nanoseconds(999), "0 µs"), (.microseconds(999), "999 µs"),
        (.milliseconds(1), "1.00 ms"),
        (.microseconds(3_426), "3.42 ms"), (.milliseconds(34), "34 ms"), (.milliseconds(999), "999 ms"),
        (.milliseconds(1_050), "1.05 s"), (.seconds(59), "59 s"), (.seconds(86_400), "86400 s"),
        (.seconds(Int64.max), "9223372036854775807 s"), (.seconds(-86_400), "-86400 s"), (.microseconds(-5), "-5 µs"),
    ])
    func durationsAreTold(time: Duration, text: String) {
        #expect(time.logged == text)
    }

    @Test func interceptorOfTheProgramWritesToTheSink() {
        let entries = Notes<String>()
        let sink = LogSink { entries.add("\($0.event.rawValue) \($0.number): \($0)") }
        sink.write(LogEntry(LogEntry.Event(rawValue: "refresh"), number: 7, text: "done\nin 2 s\n"))
        sink.write(LogEntry(.failure, text: "password=hunter2&a=1 \u{1B}[2J"))
        #expect(entries.all.first == "refresh 7: done\n    in 2 s")
        #expect(entries.all.last?.contains("hunter2") == false)
        #expect(entries.all.last?.contains("\u{1B}") == false)
    }
}
