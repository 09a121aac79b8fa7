import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

/// A recorder's first answer replaces every answer that the folder had for the same request.
@Suite(.againstHanging) struct FolderReplacementTests {
    @Test func everythingOfTheSameNameGoes() async throws {
        let recorded = RecordedFolder()
        // Several statuses and extensions, numbers, an orphan head, and a head without content.
        for file in [
            "GET/q.json", "GET/q.json.head", "GET/q.404.txt", "GET/q#2.json", "GET/q#7.503.head", "GET/q.html.head",
            "GET/q.204.head",
        ] {
            try recorded.write("{}", to: file)
        }
        let kept = [
            "GET/q.v2.json", "GET/q#01234567.json", "GET/q?a=1.json", "GET/qq.json", "GET/r/q.json", "POST/q.json",
            "*/q.json", "a.example/GET/q.json", "q.har",
        ]
        for file in kept { try recorded.write("{}", to: file) }
        try await recorded.record("/q", .text("new", headers: ["X-A": "1"]))
        #expect(Set(try recorded.files) == Set(kept + ["GET/q.txt", "GET/q.txt.head"]))
        #expect(try await recorded.player.text("/q") == "new")
    }

    @Test func aFileThatAnswersItsWholeNameGoesOnToDoSo() async throws {
        let recorded = RecordedFolder()
        for file in ["GET/report.pdf", "GET/log.txt", "GET/log.txt.json", "GET/a.png", "GET/a.png.head", "GET/b.png"] {
            try recorded.write("X-A: 1", to: file)
        }
        for target in ["/report", "/log", "/a"] { try await recorded.record(target, .json("1")) }
        try await recorded.record("/b", .data(Data([1]), contentType: "image/png"))
        let kept = [
            "GET/a.json", "GET/b.png", "GET/log.json", "GET/log.txt.json", "GET/report.json", "GET/report.pdf.pdf",
        ]
        #expect(try recorded.files == kept)
        #expect(try await recorded.player.text("/report").hasPrefix("1"))
        #expect(try await recorded.player.text("/report.pdf") == "X-A: 1")
        #expect(recorded.errors.all.isEmpty)
    }

    @Test func laterAnswersOfARecorderReplaceNothing() async throws {
        let recorded = RecordedFolder()
        let chain = recorded.chain()
        for text in ["a", "b"] {
            recorded.stub.enqueue(.text(text))
            _ = try await chain.text("/q")
        }
        #expect(try recorded.files == ["GET/q#2.txt", "GET/q.txt"])
    }

    /// After any number of steps, as after a kill, the folder has the old answer, the new answer or no answer.
    @Test func eachStepLeavesWholeAnswers() async throws {
        let shapes: [StubAnswer] = [
            .text("V", headers: ["X-V": "V"]), .text("V"), .text("V", status: 201, headers: ["X-V": "V"]),
            .status(204, headers: ["X-V": "V"]),
        ]
        for old in shapes {
            for new in shapes {
                let count = try await states(from: old, to: new) { answer in
                    #expect(answer == nil || [1, 2].contains { answer == $0 }, "\(old) to \(new)")
                }
                #expect(count >= 2)
            }
        }
    }

    private struct State: Equatable {
        let status: Int
        let fields: HTTPFields
        let content: Data?
    }

    /// Records an answer, and then another one step by step.
    ///
    /// - Returns: the number of steps.
    private func states(
        from old: StubAnswer,
        to new: StubAnswer,
        check: (Int?) -> Void
    ) async throws -> Int {
        var (count, stop) = (Int.max, 0)
        while stop <= count {
            let folder = RecordedFolder()
            try await folder.record("/q", old.version("1"))
            let before = try await state(of: folder)
            // Makes the same steps as the recorder, and stops among them.
            let complete = RecordedFolder()
            try await complete.record("/q", new.version("2"))
            let after = try await state(of: complete)
            let exchange = try await exchange(new.version("2"))
            let name = FolderName(method: .get, url: "/q", redaction: .standard)
            let files = try #require(FolderFiles(exchange, name: name, number: 1))
            let paths = FolderPath(folder.url)
            let content = try files.content.map { try paths.writeTemporary($0, beside: files.path, now: Date()) }
            let head = try files.head.map { try paths.writeTemporary($0, beside: files.path, now: Date()) }
            let steps = files.steps(content: content, head: head, replacing: try paths.list().files)
            count = steps.count
            for step in steps.prefix(stop) { try paths.perform(step) }
            let found = try await state(of: folder)
            check(found == nil ? nil : found == before ? 1 : found == after ? 2 : 3)
            if stop == count { #expect(found == after) }
            stop += 1
        }
        return count
    }

    private func exchange(_ answer: StubAnswer) async throws -> RecordedExchange {
        let stub = StubTransport()
        stub.enqueue(answer)
        let response = try await stub.send(request("/q"))
        return RecordedExchange(
            startedAt: Date(),
            request: .init(method: .get, url: "/q"),
            response: .init(
                status: response.status,
                headerFields: response.headerFields,
                chunks: (response.body.bytes ?? Data()).isEmpty ? [] : [.init(response.body.bytes ?? Data())]
            )
        )
    }

    private func state(of folder: RecordedFolder) async throws -> State? {
        do {
            let response = try await folder.player.send(request("/q"))
            return State(status: response.status.code, fields: response.headerFields, content: response.body.bytes)
        } catch let error as TransportError where error.code == .noStub {
            return nil
        }
    }

    // MARK: Temporary files

    @Test func temporaryFilesOfKilledProcessesGoAfterAnHour() async throws {
        let recorded = RecordedFolder()
        let now = 1_800_000_000
        let names = [0, 3_600, 3_601, 90_000, -1].map { (age: $0, name: ".recording-\(now - $0)-abc") }
        for (_, name) in names { try recorded.write("half", to: "GET/\(name)") }
        try recorded.write("other", to: "GET/.recording-x")
        #expect(try recorded.files.isEmpty)
        let chain = recorded.chain(time: .manual(ManualClock(), startingAt: Date(timeIntervalSince1970: Double(now))))
        recorded.stub.enqueue(.text("1"))
        _ = try await chain.text("/a")
        let left = names.filter { 0...3_600 ~= $0.age }.map { "GET/" + $0.name } + ["GET/.recording-x"]
        #expect(Set(recorded.everything.filter { $0.contains(".recording") }) == Set(left))
        #expect(try recorded.files == ["GET/a.txt"])
    }

    @Test func failureToWriteLeavesNoTemporaryFile() async throws {
        let recorded = RecordedFolder()
        // A folder in the place of the head can't be replaced.
        try recorded.write("", to: "GET/a.txt.head/x")
        try await recorded.record("/a", .text("1", headers: ["X-A": "1"]))
        #expect(recorded.errors.all.count == 1)
        #expect(!recorded.everything.contains { $0.contains(".recording") })
    }

    // MARK: Answers that aren't kept

    @Test(
        arguments: [
            (304, ["If-None-Match": "\"1\""]), (304, ["If-Modified-Since": "Thu, 01 Jan 2015 00:00:00 GMT"]),
            (206, ["Range": "bytes=0-1"]), (416, ["Range": "bytes=9-"]),
        ] as [(Int, HTTPFields)]
    )
    func answerToAConditionDoesNotReplaceAWholeOne(status: Int, fields: HTTPFields) async throws {
        let recorded = RecordedFolder()
        try await recorded.record("/a", .text("whole"))
        let status = try #require(HTTPResponse.Status(code: status))
        let url = "https://api.example.com/a"
        try await recorded.record([(request(at: url, fields: fields), .status(status, headers: ["ETag": "\"1\""]))])
        #expect(try recorded.files == ["GET/a.txt"])
        try await recorded.record([(request(at: url, fields: fields), .text("changed"))])
        #expect(try recorded.text("GET/a.txt") == "changed")
        #expect(recorded.errors.all.isEmpty)
        // Without a condition in the request, the status is the server's answer.
        try await recorded.record("/b", .status(status))
        #expect(try recorded.files.contains("GET/b.\(status.code).head"))
    }
}

extension StubAnswer {
    /// The answer with the text V replaced by a version.
    fileprivate func version(_ version: String) -> StubAnswer {
        var answer = self
        answer.headerFields = HTTPFields(
            headerFields.map { HTTPField(unchecked: $0.name, $0.value.replacing("V", with: version)) }
        )
        if case .body(let body) = content, let bytes = body.bytes {
            let text = String(decoding: bytes, as: UTF8.self).replacing("V", with: version)
            answer.content = .body(HTTPBody(text))
        }
        return answer
    }
}
