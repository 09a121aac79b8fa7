import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct FolderNameTests {
    @Test(arguments: [
        ("https://h.org/users/42", "GET/users/42"),
        ("https://h.org/", "GET/^"),
        ("https://h.org", "GET/^"),
        ("https://h.org/users/", "GET/users/^"),
        ("https://h.org//a//b", "GET/^/a/^/b"),
        ("https://h.org/search?q=swift&page=2", "GET/search?q=swift&page=2"),
        ("https://h.org?q=1", "GET/^?q=1"),
        ("https://h.org/a?", "GET/a?"),
        ("https://h.org/a#part", "GET/a"),
        ("https://h.org/getUserById", "GET/get^user^by^id"),
        ("https://h.org/%67et", "GET/get"),
        ("https://h.org/a%2Fb/c%5Cd", "GET/a%2Fb/c%5Cd"),
        ("https://h.org/a:b", "GET/a%3Ab"),
        ("https://h.org/?a=b%2Bc+d", "GET/^?a=b%2Bc+d"),
        ("https://h.org/?next=/a?b", "GET/^?next=%2Fa%3Fb"),
        ("https://h.org/caf%C3%A9", "GET/caf%C3%A9"),
        ("https://h.org/cafe%CC%81", "GET/cafe%CC%81"),
        ("https://h.org/files/*", "GET/files/%2A"),
        ("https://h.org/%00", "GET/%00"),
        ("https://h.org/../etc/passwd", "GET/%2E./etc/passwd"),
        ("https://h.org/%2e%2e/%2e/x", "GET/%2E./%2E/x"),
        ("https://h.org/.well-known/x", "GET/%2Ewell-known/x"),
        ("https://h.org/v1.2/x", "GET/v1.2/x"),
        ("https://h.org/users.json/x", "GET/users%2Ejson/x"),
        ("https://h.org/users.json", "GET/users.json"),
        ("https://h.org/users.201", "GET/users%2E201"),
        ("https://h.org/search?token=abc&q=1", "GET/search?token=*&q=1"),
        ("/target/only?x=1", "GET/target/only?x=1"),
    ])
    func urlHasOneName(url: String, name: String) {
        #expect(FolderName(method: .get, url: url, redaction: .standard).description == name)
    }

    @Test func statusNumberAndExtensionFollowTheName() {
        let name = FolderName(method: .post, url: "/users", redaction: .standard)
        #expect(name.path(status: 200, fileExtension: "json") == ["POST", "users.json"])
        #expect(name.path(status: 201, fileExtension: "json") == ["POST", "users.201.json"])
        #expect(name.path(number: 2, status: 201, fileExtension: "json") == ["POST", "users#2.201.json"])
        #expect(name.path(status: 200, fileExtension: nil) == ["POST", "users.200"])
        var forBody = name
        forBody.body = "0123abcd"
        #expect(forBody.path(number: 3, status: 200, fileExtension: "txt") == ["POST", "users#0123abcd#3.txt"])
    }

    @Test(arguments: [("GET", "GET"), ("M-SEARCH", "M-SEARCH"), ("get", "%67%65%74"), ("A.B", "A%2EB"), ("*", "%2A")])
    func methodIsAFolder(method: String, folder: String) throws {
        #expect(FolderName.folder(of: try #require(HTTPRequest.Method(rawValue: method))) == folder)
    }

    @Test(arguments: [
        ("https://api.example.com", "api.example.com"), ("https://API.example.com:443/x", "api.example.com"),
        ("https://api.example.com:8443", "api.example.com,8443"), ("http://api.example.com", "http,api.example.com"),
        ("http://localhost:8080", "http,localhost,8080"), ("https://get", "https,get"),
        ("https://[::1]:80", "https,%5B%3A%3A1%5D,80"),
    ])
    func originIsAFolderUnlikeAnyMethods(url: String, folder: String) throws {
        let origin = try #require(URL(string: url).flatMap { OriginText($0, redaction: .standard) })
        #expect(FolderName.folder(ofOrigin: origin) == folder)
        #expect(FolderName.isOrigin(folder))
    }

    @Test func longNameIsCutAndKeepsApartWhatDiffersAtItsEnd() throws {
        let long = "/" + String(repeating: "aB%2F", count: 100)
        let names = ["1", "2"].map { FolderName(method: .get, url: long + $0, redaction: .standard).segments[0] }
        #expect(names[0] != names[1])
        #expect(names.allSatisfy { $0.utf8.count < 160 && $0.contains("^^") })
        let deep = FolderName(method: .get, url: String(repeating: "/abc", count: 3_000), redaction: .standard)
        #expect(deep.segments.count == 1)
        #expect(deep.segments[0].hasPrefix("^^"))
    }

    @Test(
        arguments: [
            ("42.json", "42", nil, 1, nil, "json", false), ("users.201.json", "users", nil, 1, 201, "json", false),
            ("users#2.201.json", "users", nil, 2, 201, "json", false),
            ("users#0123abcd#12.json", "users", "0123abcd", 12, nil, "json", false),
            ("users#0123abcd.json", "users", "0123abcd", 1, nil, "json", false),
            ("users#12345678.json", "users", "12345678", 1, nil, "json", false),
            ("42.204.head", "42", nil, 1, 204, nil, true), ("42.json.head", "42", nil, 1, nil, "json", true),
            ("a.txt.204.head", "a.txt", nil, 1, 204, nil, true), ("v1.2.json", "v1.2", nil, 1, nil, "json", false),
            ("v1.2", "v1.2", nil, 1, nil, nil, false), ("logo.png.png", "logo.png", nil, 1, nil, "png", false),
            ("42", "42", nil, 1, nil, nil, false), ("a.099.json", "a.099", nil, 1, nil, "json", false),
        ] as [(String, String, String?, Int, Int?, String?, Bool)]
    )
    func fileNameIsReadFromItsEnd(
        text: String,
        base: String,
        body: String?,
        number: Int,
        status: Int?,
        ending: String?,
        isHead: Bool
    ) {
        let name = AnswerFileName(text)
        #expect(name.base == base)
        #expect(name.body == body)
        #expect(name.number == number)
        #expect(name.status == status)
        #expect(name.fileExtension == ending)
        #expect(name.isHead == isHead)
    }
}

@Suite(.againstHanging, .heavy) struct FolderNameRoundTripTests {
    /// A spelling in a URL, and what it means. Equal meanings make equal URLs.
    private static let atoms: [(spelling: String, meaning: String)] = [
        ("a", "a"), ("b", "b"), ("%61", "a"), ("A", "A"), ("%41", "A"), ("%c3%a9", "é"), ("%C3%A9", "é"),
        ("e%CC%81", "e+accent"), (":", ":"), ("%3A", ":"), ("+", "+"), ("%2B", "encoded +"), ("=", "="),
        ("%3D", "encoded ="), ("&", "&"), ("%26", "encoded &"), (".", "."), ("%2e", "."), ("%2F", "encoded /"),
        ("%5C", "\\"), ("%00", "NUL"), ("*", "*"), ("%2A", "*"), ("%5E", "^"), ("%23", "#"), ("%3F", "encoded ?"),
        (".json", ".json"), (".201", ".201"), (".head", ".head"), ("json", "json"), ("%25", "%"), ("_", "_"),
        ("~", "~"),
        ("GET", "GET"), ("%20", " "), ("1", "1"), ("%0A", "line feed"), ("%C3%89", "É"), (",", ","), ("!", "!"),
    ]

    private struct Sample {
        var method: HTTPRequest.Method
        var url: String
        var meaning: String
    }

    private static func sample(_ random: inout SeededGenerator) -> Sample {
        let method = random.oneOf([HTTPRequest.Method.get, .post, "get", "Get"])
        var (url, meaning) = ("https://h.org", method.rawValue)
        func text(_ count: Int, into url: inout String, _ meaning: inout String, _ random: inout SeededGenerator) {
            for _ in 0..<count {
                let atom = random.oneOf(atoms)
                url += atom.spelling
                meaning += "‹\(atom.meaning.map { "\($0)" }.joined(separator: "›‹"))›"
            }
        }
        for _ in 0...Int.random(in: 0...3, using: &random) {
            url += "/"
            meaning += "/"
            text(random.oneOf([0, 1, 1, 2, 2, 3, 60]), into: &url, &meaning, &random)
        }
        if Bool.random(using: &random) {
            url += "?"
            meaning += "?"
            text(random.oneOf([0, 1, 2, 3, 60]), into: &url, &meaning, &random)
        }
        return Sample(method: method, url: url, meaning: meaning)
    }

    /// An exchange's file answers its request, and none of the other requests that another file is for.
    @Test func exchangeIsAnsweredByItsFileAlone() throws {
        let seed = DailySeed.value
        var random = SeededGenerator(seed: seed)
        let samples = (0..<FullLoad.count(2_000, full: 10_000)).map { _ in Self.sample(&random) }
        var meanings: [[String]: String] = [:]
        var spellings: [String: [String]] = [:]
        for sample in samples {
            let name = FolderName(method: sample.method, url: sample.url, redaction: .standard)
            let path = name.path(status: random.oneOf([200, 200, 404]), fileExtension: random.oneOf(["json", nil]))
            let file = path[path.count - 1]
            let isHead = AnswerFileName(file).fileExtension == nil
            let kept = Array(path.dropLast()) + [isHead ? file + AnswerFileName.headEnding : file]
            meanings[name.folders + [name.segments.last ?? ""]] = sample.meaning
            // A recorder's name is its own only spelling.
            #expect(try FolderName(of: kept, AnswerFileName(kept.last ?? "")) == name, "\(sample.url), seed \(seed)")
            // On a file system that ignores case and the form of Unicode characters.
            let folded = FolderPath.text(kept).lowercased().decomposedStringWithCanonicalMapping
            let before = spellings.updateValue(kept, forKey: folded)
            #expect(before == nil || before == kept, "\(sample.url), seed \(seed)")
        }
        let index = FolderIndex(FolderPath.Listing(files: Array(spellings.values)), .standard)
        let paths = Set(spellings.values)
        for path in paths {
            #expect(!(1..<path.count).contains { paths.contains(Array(path.prefix($0))) }, "\(path), seed \(seed)")
            #expect(path.allSatisfy { $0.utf8.count <= 200 && !$0.hasPrefix(".") && !$0.contains("/") && $0 != "" })
        }
        for sample in samples {
            let query = FolderQuery(
                sample.method,
                sample.url,
                origin: nil,
                origins: [],
                body: nil,
                redaction: .standard
            )
            let group = index.group(for: query)
            let name = group.map { $0.name.folders + [$0.name.segments.last ?? ""] } ?? []
            #expect(meanings[name] == sample.meaning, "\(sample.method) \(sample.url), seed \(seed)")
        }
    }
}
