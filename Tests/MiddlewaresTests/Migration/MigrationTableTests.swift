import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// The tables in the articles on migration: each row has a check of the code that replaces the old part.
@Suite(.againstHanging) struct MigrationTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let article: String
        let old: String
        let new: String
        var testDescription: String { "\(article): \(old)" }
    }

    static let rows: [Row] = ["FromURLSession", "FromAlamofire", "FromMoya", "FromAnInHouseLayer"].flatMap(rows)

    /// The rows of an article's first table.
    private static func rows(of article: String) -> [Row] {
        let path = "Sources/Middlewares/Middlewares.docc/Migration/\(article).md"
        guard let text = try? String(contentsOf: Repository.root.appending(path: path), encoding: .utf8) else {
            return []
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { !$0.hasPrefix("| ---") }.dropFirst().prefix { $0.hasPrefix("|") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return Row(article: article, old: cells[0].replacing("`", with: ""), new: cells[1])
        }
    }

    @Test(arguments: rows) func theCodeOfARowDoesWhatTheOldPartDid(_ row: Row) async throws {
        let check = try #require(MigrationRows.checks[row.old], "Add a check of: \(row.new)")
        try await check()
    }

    @Test func allRowsAreReadAndAllChecksAreUsed() {
        #expect(Self.rows.count > 80)
        #expect(Set(MigrationRows.checks.keys) == Set(Self.rows.map(\.old)))
    }
}

/// The checks of the rows, by the text of the first cell.
enum MigrationRows {
    typealias Check = @Sendable () async throws -> Void

    static let checks: [String: Check] = messages.merging(content) { $1 }.merging(chains) { $1 }.merging(others) { $1 }

    struct User: Codable, Sendable, Equatable {
        var id = 42
        var name = "Ada"
    }

    static let ada = StubAnswer.json(#"{"id":42,"name":"Ada"}"#)
    static let base = URL(string: "https://api.example.com/v1")!

    static func client(_ interceptors: [any Interceptor], _ transport: any Transport) -> Client {
        Client(baseURL: base, interceptors: interceptors, transport: transport)
    }

    /// The requests that a closure's calls send.
    @discardableResult
    static func sent(
        _ interceptors: [any Interceptor] = [],
        _ answers: [StubAnswer] = [ada],
        _ calls: (Client) async throws -> Void
    ) async throws -> [HTTPRequest] {
        let stub = StubTransport()
        for answer in answers { stub.enqueue(answer) }
        try await calls(client(interceptors, stub))
        return stub.requests
    }

    static func text(_ request: HTTPRequest?) async throws -> String {
        String(decoding: try await request?.body.collect(upTo: 1 << 20) ?? Data(), as: UTF8.self)
    }

    /// A file that is removed after a closure has used it.
    static func withFile(_ use: (URL) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "migration-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try await use(file)
    }

    /// The row says that nothing replaces the old part, or its code needs Apple's systems.
    static let nothing: Check = {}
}
