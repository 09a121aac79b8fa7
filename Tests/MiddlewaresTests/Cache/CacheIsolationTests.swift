import Foundation
import Interceptors
import InterceptorsSyntax
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CacheIsolationTests {
    private let world = CacheWorld()

    // MARK: Who sees what

    @Test(arguments: [
        (["Authorization: Bearer a"], ["Authorization: Bearer b"]), (["Authorization: Bearer a"], []),
        (["Cookie: s=a"], ["Cookie: s=b"]), (["X-API-Key: a"], ["X-API-Key: b"]),
        (["Authorization: a", "Cookie: b"], ["Authorization: b", "Cookie: a"]),
    ])
    func twoUsersNeverShareAnEntry(one: [String], other: [String]) async throws {
        world.answer(["Cache-Control: public, max-age=60"], "one")
        world.answer(["Cache-Control: public, max-age=60"], "two")
        #expect(try await world.send(one) == "200 miss one")
        #expect(try await world.send(other) == "200 miss two")
        #expect(try await world.send(one) == "200 hit one age 0")
        #expect(try await world.send(other) == "200 hit two age 0")
        for line in try await world.store.listing() {
            #expect(!line.key.text.contains("Bearer") && !"\(line)".contains("Bearer"), "no secret in a key")
        }
    }

    @Test func aKeyTellsNoSecretWhenItIsPrinted() throws {
        let target = try url("https://a.example/x?access_token=hush&page=2")
        let key = try #require(CacheKey(url: target, partition: "ada"))
        let listing = CacheEntrySummary(
            key: key,
            response: CachedResponse(status: 200, headers: [:], responseTime: 0),
            length: 0
        )
        var texts = [
            "\(key)", String(reflecting: key), "\(listing)", String(reflecting: listing), "\(Optional(key) as Any)",
        ]
        for value in [key, listing, [key: 1]] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            texts.append(dumped)
        }
        for text in texts {
            #expect(text.contains("a.example") && text.contains("page=2"))
            #expect(!text.contains("hush") && !text.contains("ada"))
        }
        #expect(key.text.contains("hush"), "but it is part of the key")
    }

    @Test func aNamedPartitionOutlivesTheTokenAndIsNobodyElses() async throws {
        world.answer(["Cache-Control: max-age=60"], "one")
        #expect(try await world.send(["Authorization: Bearer a"], partition: "ada") == "200 miss one")
        #expect(try await world.send(["Authorization: Bearer b"], partition: "ada") == "200 hit one age 0")
        #expect(try await world.send(partition: "ada") == "200 hit one age 0", "while nobody can sign in")
        for partition in ["bob", "", "n:ada"] {
            world.answer(["Cache-Control: max-age=60"], "two")
            #expect(try await world.send(partition: partition) == "200 miss two")
        }
        #expect(try await world.send() == "200 hit two age 0", "an empty name is none")
        world.answer(["Cache-Control: max-age=60"], "credentials")
        #expect(try await world.send(["Authorization: Bearer a"], partition: "") == "200 miss credentials")
        // Sign-out clears the user's partition.
        try await world.store.removeAll(partition: "ada")
        #expect(try await world.send(mode: .offline, partition: "ada") == "504 unsatisfiable ")
        #expect(try await world.send(mode: .offline, partition: "bob") == "200 hit two age 0")
    }

    /// A letter with an accent, and the letter followed by a combining accent: equal as `String`, different to a
    /// server.
    @Test func textsThatOnlyLookTheSameAreTwo() async throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        world.answer(["Cache-Control: private, max-age=60"], "one")
        world.answer(["Cache-Control: private, max-age=60"], "two")
        #expect(try await world.send(["X-Api-Key: \(composed)"]) == "200 miss one")
        #expect(try await world.send(["X-Api-Key: \(decomposed)"]) == "200 miss two")
        world.answer(["Cache-Control: max-age=60", "Vary: X-T"], "three")
        world.answer(["Cache-Control: max-age=60", "Vary: X-T"], "four")
        #expect(try await world.send(["X-T: \(composed)"]) == "200 miss three")
        #expect(try await world.send(["X-T: \(decomposed)"]) == "200 miss four")
        world.answer(["Cache-Control: max-age=60"], "five")
        world.answer(["Cache-Control: max-age=60"], "six")
        #expect(try await world.send(partition: composed) == "200 miss five")
        #expect(try await world.send(partition: decomposed) == "200 miss six")
    }

    // The package's transports refuse such a URL; a user's own transport might not.
    @Test func aUserInTheURLIsAUser() throws {
        let partitions = CachePartitions()
        let names = try ["ada:1@", "bob:1@", ""].map { user in
            partitions.name(for: HTTPRequest(url: try url("https://\(user)a.example/x")))
        }
        #expect(Set(names).count == 3)
    }

    @Test func manyUsersAtOnceGetTheirOwn() async throws {
        let store = MemoryCacheStore()
        let transport = Recorder { request in
            HTTPResponse(
                status: 200,
                headers: [.cacheControl: "max-age=60"],
                body: HTTPBody(request.headers[.authorization] ?? "")
            )
        }
        let chain = InterceptorChain([.cache(store)], transport: transport)
        let target = try url("https://a.example/x")
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<400 {
                let user = "Bearer \(index % 20)"
                group.addTask {
                    let request = HTTPRequest(url: target, headers: [.authorization: user])
                    return (try? await chain.send(request))?.body.data == Data(user.utf8)
                }
            }
            for await isOwn in group { #expect(isOwn) }
        }
        #expect(store.count == 20)
    }

    // With more forms of requests and users than are remembered, the same credentials keep their name, and no others
    // share it.
    @Test func aNameDependsOnTheCredentialsAlone() throws {
        let partitions = CachePartitions()
        let address = try url("https://a.example/")
        let plain: [HTTPField.Name] = ["Accept", "X-One", "X-Two", "User-Agent", "X-Three", "Range"]
        var names: [String: String] = [:]
        for round in 0..<50 {
            for secret in 0..<7 {
                var fields = HTTPFields()
                for place in 0..<(round % 6) { fields.append(plain[(round + place) % 6], "\(round)") }
                fields.append(round % 2 == 0 ? "X-Api-Key" : "x-api-key", "\(secret)")
                if round % 3 == 0 { fields.append("Accept-Language", "\(secret)") }
                let name = partitions.name(for: HTTPRequest(url: address, headers: fields))
                #expect(!name.isEmpty && names["\(secret)", default: name] == name)
                names["\(secret)"] = name
            }
            let none = HTTPRequest(url: address, headers: ["X-Api-Kex": "1", "Accept": "1"])
            #expect(partitions.name(for: none).isEmpty)
        }
        #expect(Set(names.values).count == 7)
    }

    @Test func theFingerprintIsSHA256() {
        func hex(_ text: String) -> String { PortableSHA256.digest(Array(text.utf8)).hexadecimal }
        #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        )
        for count in [55, 56, 63, 64, 119, 120, 1_000] {
            #expect(hex(String(repeating: "a", count: count)).count == 64)
        }
    }

    // MARK: Bodies

    private func stream(
        _ chunks: [String],
        failure: (any Error)? = nil,
        headers: [String] = ["Cache-Control: max-age=60"]
    ) {
        world.stub.enqueue(.stream(chunks.map { Data($0.utf8) }, thenFailing: failure, headers: fields(headers)))
    }

    @Test func aStreamedBodyIsStoredOnceItHasBeenReadToItsEnd() async throws {
        stream(["a", "b", "c"])
        let response = try await world.chain.send(try world.request(streamed: true))
        var chunks: [String] = []
        for try await chunk in response.body {
            chunks.append(String(decoding: chunk, as: UTF8.self))
            #expect(try await world.entries().isEmpty)
        }
        #expect(chunks == ["a", "b", "c"])
        #expect(try await world.send() == "200 hit abc age 0")
        #expect(world.stub.openBodies == 0)
    }

    @Test func aTruncatedBodyIsNeverStored() async throws {
        stream(["a", "b"], failure: TransportError(.truncated, "Cut."))
        let response = try await world.chain.send(try world.request(streamed: true))
        await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 100) }
        #expect(try await world.entries().isEmpty)
        stream(["a", "b"], headers: ["Cache-Control: max-age=60", "Content-Length: 3"])
        _ = try? await world.chain.send(try world.request(streamed: true)).body.collect(upTo: 100)
        #expect(try await world.entries().isEmpty, "fewer bytes than Content-Length")
    }

    @Test func aDiscardedOrDroppedBodyIsNeverStored() async throws {
        stream(["a", "b"])
        let response = try await world.chain.send(try world.request(streamed: true))
        for try await _ in response.body { break }
        response.body.discard()
        stream(["a", "b"])
        _ = try await world.chain.send(try world.request(streamed: true))
        stream(["a"])
        try await world.chain.send(try world.request(streamed: true)).body.discard()
        #expect(try await world.entries().isEmpty)
    }

    @Test func aCancelledReaderStoresNothing() async throws {
        let (began, continuation) = AsyncStream<Void>.makeStream()
        let transport = Recorder { _ in
            HTTPResponse(
                status: 200,
                headers: [.cacheControl: "max-age=60"],
                body: .oneShot(NoChunks(began: continuation))
            )
        }
        let chain = InterceptorChain([world.cache], transport: transport)
        let request = try world.request(streamed: true)
        let reader = Task { try await chain.send(request).body.collect(upTo: 100) }
        for await _ in began { break }
        reader.cancel()
        _ = await reader.result
        #expect(try await world.entries().isEmpty)
    }

    @Test func aSlowReaderIsNotOvertakenByItsOwnInvalidation() async throws {
        stream(["a", "b"])
        let response = try await world.chain.send(try world.request(streamed: true))
        var iterator = response.body.makeAsyncIterator()
        _ = try await iterator.next()
        world.answer(204, [])
        _ = try await world.send([], .post)
        while try await iterator.next() != nil {}
        #expect(try await world.entries().isEmpty)
    }

    @Test func aBodyThatIsTooLargeForTheStoreReachesItsReader() async throws {
        let world = CacheWorld(store: MemoryCacheStore(entryByteLimit: 2))
        world.answer(["Cache-Control: max-age=60"], "abc", times: 2)
        #expect(try await world.send() == "200 miss abc")
        #expect(try await world.send() == "200 miss abc")
        #expect(world.reported.count == 2)
    }

    // MARK: Stores that fail

    @Test func aBrokenStoreFailsNoRequest() async throws {
        let world = CacheWorld(store: BrokenStore())
        world.answer(["Cache-Control: max-age=60"], "one", times: 3)
        #expect(try await world.send() == "200 miss one")
        #expect(try await world.send([], .head) == "200 miss ")
        #expect(try await world.send([], .post) == "200 miss one")
        #expect(world.reported.count >= 3)
    }

    @Test(arguments: [FragileStore.Weakness.append, .commit, .read])
    func aFragileStoreFailsNoRequest(weakness: FragileStore.Weakness) async throws {
        let world = CacheWorld(store: FragileStore(weakness: weakness))
        world.answer(["Cache-Control: max-age=60"], "one", times: 3)
        for _ in 0..<3 { #expect(try await world.send() == "200 miss one") }
        #expect(!world.reported.isEmpty)
    }
}
