import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct MultipartFormDataTests {
    private typealias Part = MultipartFormData.Part

    private func form(_ parts: [Part]) throws -> MultipartFormData {
        try #require(MultipartFormData(parts, boundary: "b"))
    }

    private func text(_ parts: [Part]) async throws -> String {
        String(decoding: try await form(parts).body().collect(upTo: 1 << 20), as: UTF8.self)
    }

    @Test func textBytesAndFilesBecomePartsInTheirOrder() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data("file"), to: "a.jpg")
        let written = try await text([
            .text(name: "title", "Grüße\n"),
            .data(name: "icon", Data("bytes"), filename: "icon.png", contentType: "image/png"),
            .data(name: "raw", Data("raw")),
            try .file(name: "photo", at: file, contentType: "image/jpeg"),
            try .file(name: "photo", at: file, filename: "b.bin"),
        ])
        let expected = [
            "--b", "Content-Disposition: form-data; name=\"title\"", "", "Grüße\n",
            "--b", "Content-Disposition: form-data; name=\"icon\"; filename=\"icon.png\"",
            "Content-Type: image/png", "", "bytes",
            "--b", "Content-Disposition: form-data; name=\"raw\"", "Content-Type: application/octet-stream",
            "", "raw",
            "--b", "Content-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"",
            "Content-Type: image/jpeg", "", "file",
            "--b", "Content-Disposition: form-data; name=\"photo\"; filename=\"b.bin\"",
            "Content-Type: application/octet-stream", "", "file",
            "--b--", "",
        ]
        #expect(written == expected.joined(separator: "\r\n"))
    }

    @Test func aFormWithoutPartsIsItsEndAlone() async throws {
        #expect(try await text([]) == "--b--\r\n")
    }

    @Test(arguments: [
        (#"a"; filename="x"#, "a%22; filename=%22x"),
        ("a\r\n\r\n--b--\r\nX: y", "a%0D%0A%0D%0A--b--%0D%0AX: y"),
        ("a\rb\nc", "a%0Db%0Ac"),
        (#"100% \ é"#, #"100% \ é"#),
        ("", ""),
    ])
    func noTextBreaksOutOfANameOrAFilename(name: String, written: String) async throws {
        let parts = [Part(name: name, filename: name, body: "x")]
        let head = "Content-Disposition: form-data; name=\"\(written)\"; filename=\"\(written)\""
        #expect(try await text(parts) == "--b\r\n\(head)\r\n\r\nx\r\n--b--\r\n")
    }

    @Test(arguments: ["", " ", "text/plain\r\nX: y", "text/plain\n", "a\0b"])
    func aContentTypeThatCouldBreakOutIsRefused(type: String) async throws {
        let error = #expect(throws: TransportError.self) {
            try form([Part(name: "a", contentType: type, body: "x")]).body()
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: ["", " ", "b ", "b\r\n", "b\"", "bé", "b;c", String(repeating: "b", count: 71)])
    func aBoundaryThatIsNotLegalIsNone(boundary: String) {
        #expect(MultipartFormData([], boundary: boundary) == nil)
    }

    @Test func theContentTypeNamesTheBoundaryInQuotesWhereItNeedsThem() throws {
        #expect(try form([]).contentType == "multipart/form-data; boundary=b")
        let quoted = try #require(MultipartFormData([], boundary: "a b/c:?"))
        #expect(quoted.contentType == "multipart/form-data; boundary=\"a b/c:?\"")
        #expect(MultipartFormData([], boundary: String(repeating: "b", count: 70)) != nil)
    }

    @Test func theUsualBoundaryIsRandomAndLegalAndAToken() throws {
        let boundaries = Set((0..<100).map { _ in MultipartFormData().boundary })
        #expect(boundaries.count == 100)
        for boundary in boundaries {
            #expect(MultipartFormData([], boundary: boundary) != nil)
            #expect(ASCII.isToken(boundary))
        }
    }

    @Test func theLengthIsThatOfTheBytesIfAllPartsHaveOne() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data(count: 100_000))
        let parts: [Part] = [
            .text(name: "a", "é"), try .file(name: "b", at: file), .data(name: "c", Data(count: 70_000)),
            Part(name: "d", body: .restartable(length: 6) { chunks("one", "two") }),
        ]
        let body = try form(parts).body()
        #expect(body.length == Int64(try await body.collect(upTo: 1 << 20).count))
        let unknown = Part(name: "e", body: .restartable { chunks("one") })
        #expect(try form(parts + [unknown]).body().length == nil)
        let vast = Part(name: "f", body: .restartable(length: .max) { chunks("one") })
        #expect(try form([vast, vast]).body().length == nil)
    }

    @Test func sentAgainItIsTheSameBytes() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data("file"))
        let stream = Part(name: "s", body: .restartable { chunks("one", "two") })
        let body = try form([.text(name: "t", "text"), try .file(name: "f", at: file), stream]).body()
        #expect(body.isRestartable)
        let first = try await body.collect(upTo: 1 << 20)
        #expect(try await body.collect(upTo: 1 << 20) == first)
        #expect(!first.isEmpty)
    }

    @Test func aFormOfShortBytesAloneIsInMemory() throws {
        let body = try form([.text(name: "a", "1"), .data(name: "b", Data(count: 1000))]).body()
        #expect(body.data?.count == Int(try #require(body.length)))
    }

    @Test func aBigFileIsNeverWhollyInMemory() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("big")
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        truncate(file.path, 64 << 20)
        var (count, largest) = (0, 0)
        for try await chunk in try form([try .file(name: "big", at: file)]).body() {
            count += chunk.count
            largest = max(largest, chunk.count)
        }
        #expect(count > 64 << 20)
        #expect(largest <= 64 << 10)
    }

    @Test func anOneShotPartMakesTheWholeOneShotAndIsGivenUpWithIt() async throws {
        let discards = Notes<Void>()
        let part = Part(name: "s", body: .oneShot(chunks("one")) { discards.add(()) })
        let body = try form([part]).body()
        #expect(!body.isRestartable)
        body.discard()
        #expect(discards.all.count == 1)
        let error = #expect(throws: TransportError.self) { try form([part]).body() }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test func aFileThatIsGoneIsAnErrorWhenThePartIsMade() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: TransportError.self) { try Part.file(name: "a", at: folder.file("none")) }
        #expect(error?.code == .unreadableFile)
    }

    @Test func logsOfAFormHoldNoSecretOfIt() throws {
        let form = MultipartFormData([.text(name: "user", "ada"), .text(name: "password", "hunter2")])
        let excerpt = Redaction.standard.excerpt(
            of: try #require(form.body().data),
            type: form.contentType,
            limit: 10_000
        )
        #expect(excerpt.contains("ada"))
        #expect(!excerpt.contains("hunter2"))
    }

    @Test func whatIsPrintedOfAFormHoldsNoContent() throws {
        let form = try form([.text(name: "password", "hunter2")])
        var dumped = ""
        dump(form, to: &dumped)
        #expect(!(dumped + String(reflecting: form)).contains("hunter2"))
    }

    @Test func discardingTheWholeDiscardsEachPart() throws {
        let discards = Notes<String>()
        let parts = ["a", "b", "c"].map { name in
            Part(name: name, body: .oneShot(chunks(name)) { discards.add(name) })
        }
        try form(parts).body().discard()
        #expect(discards.all == ["a", "b", "c"])
    }
}
