import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// A store's files reveal no credentials of requests.
@Suite(.againstHanging) struct DiskSecretsTests {
    private let directory = TemporaryDirectory()
    private let credentials = [
        "Cookie: sid=s3cr3t-cookie", "Authorization: Basic s3cr3t-password", "X-Api-Key: s3cr3t-key",
    ]

    private func world() -> CacheWorld { CacheWorld(store: DiskCacheStore(at: directory.url)) }

    private func bytes() throws -> [Data] {
        try directory.files().map { try Data(contentsOf: directory.cache.appending(path: $0)) }
    }

    @Test(arguments: [nil, "ada"])
    func noCredentialOfARequestIsOnTheDiskWhateverVaryNames(partition: String?) async throws {
        let vary = ["Cache-Control: max-age=60", "Vary: Cookie, Authorization, X-Api-Key, Accept"]
        let lines = credentials + ["Accept: text/html"]
        let first = world()
        first.answer(vary, "one")
        #expect(try await first.send(lines, partition: partition) == "200 miss one")
        #expect(try await first.send(lines, partition: partition) == "200 hit one age 0")
        for data in try bytes() {
            for secret in ["s3cr3t", "sid=", "Basic "] { #expect(data.firstRange(of: Data(secret.utf8)) == nil) }
            #expect(data.firstRange(of: Data("text/html".utf8)) != nil, "What is no secret is kept as it is.")
            for line in credentials {
                let value = String(line.split(separator: ": ")[1])
                let plain = PortableSHA256.digest(Array(value.utf8)).hexadecimal
                #expect(
                    data.firstRange(of: Data(plain.prefix(32).utf8)) == nil,
                    "A digest without a key can be guessed."
                )
            }
        }
        // A second store over the directory, as after a restart, finds the response. Other credentials are another caller, except
        // in a named partition.
        let second = world()
        #expect(try await second.send(lines, partition: partition) == "200 hit one age 0")
        if partition == nil { second.answer(vary, "two") }
        let other = ["Cookie: sid=other"] + lines.dropFirst()
        #expect(
            try await second.send(other, partition: partition)
                == (partition == nil ? "200 miss two" : "200 hit one age 0")
        )
        #expect(try await second.send(lines, partition: partition) == "200 hit one age 0")
        #expect(second.reported == [] && first.reported == [])
    }

    @Test func variantOfTheSameCredentialsIsReplacedNotAdded() async throws {
        let world = world()
        for text in ["one", "two", "three"] {
            world.answer(["Cache-Control: max-age=60", "Vary: Cookie"], text)
            #expect(try await world.send(["Cookie: a=1"], mode: .reload, partition: "ada") == "200 miss \(text)")
        }
        #expect(try await world.entries(partition: "ada").count == 1)
    }

    @Test(arguments: ["", "short", String(repeating: "\0", count: 32)])
    func keyThatIsLostOrDamagedIsMadeAnewAndEntriesOfCredentialsAreMisses(content: String) async throws {
        let first = world()
        first.answer(["Cache-Control: max-age=60"], "one", times: 3)
        _ = try await first.send(credentials)
        _ = try await first.send()
        let file = directory.cache.appending(path: "key")
        let old = try Data(contentsOf: file)
        #expect(old.count == 32)
        if content.isEmpty {
            try FileManager.default.removeItem(at: file)
        } else {
            try Data(content.utf8).write(to: file)
        }
        let second = world()
        second.answer(["Cache-Control: max-age=60"], "two")
        #expect(try await second.send(credentials) == "200 miss two")
        #expect(try await second.send() == "200 hit one age 0")
        #expect(try await world().send(credentials) == "200 hit two age 0")
        #expect(try Data(contentsOf: file) != old && second.reported == [])
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func storesThatOpenADirectoryAtOnceHaveOneKey() async throws {
        for _ in 0..<20 {
            let directory = TemporaryDirectory()
            let keys = try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<8 { group.addTask { try await DiskCacheStore(at: directory.url).digestKey() } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(keys.count == 1)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.cache.path)
            #expect(names.filter { $0.hasPrefix("key") } == ["key"])
        }
    }

    @Test func directoryThatIsMadeAgainKeepsTheKey() async throws {
        let store = DiskCacheStore(at: directory.url)
        let key = try await store.digestKey()
        try FileManager.default.removeItem(at: directory.url)
        try await store.put(Data(), try diskKey("a"))
        #expect(try await DiskCacheStore(at: directory.url).digestKey() == key)
    }

    @Test func storeThatHasNoKeyCostsNoRequest() async throws {
        try Data("a file".utf8).write(to: directory.url)
        let world = world()
        world.answer(["Cache-Control: max-age=60"], "one", times: 2)
        for _ in 0..<2 { #expect(try await world.send(credentials) == "200 miss one") }
        #expect(!world.reported.isEmpty)
    }

    /// RFC 4231, test cases 1, 2 and 6.
    @Test func theDigestIsHMACWithSHA256() {
        func hex(_ key: [UInt8], _ text: String) -> String {
            FieldDigest.code(of: Array(text.utf8), key: key).hexadecimal
        }
        #expect(
            hex(Array(repeating: 0x0B, count: 20), "Hi There")
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        )
        #expect(
            hex(Array("Jefe".utf8), "what do ya want for nothing?")
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        #expect(
            hex(Array(repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First")
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        )
    }
}
