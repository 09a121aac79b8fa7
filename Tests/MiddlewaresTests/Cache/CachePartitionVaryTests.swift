import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// Within a named partition, the name says who asks, whatever `Vary` names.
@Suite(.againstHanging) struct CachePartitionVaryTests {
    private let directory = TemporaryDirectory()

    @Test(arguments: ["Authorization", "Cookie", "X-Api-Key"])
    func aNewCredentialOfTheSameAccountFindsItsEntries(name: String) async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            world.answer(["Cache-Control: max-age=5", "Vary: Accept, \(name)", "ETag: \"a\""], "one")
            #expect(try await world.send(["\(name): old"], partition: "ada") == "200 miss one")
            let new = ["\(name): new"]
            #expect(try await world.send(new, partition: "ada") == "200 hit one age 0")
            world.advance(10)
            #expect(try await world.send(new, mode: .offline, partition: "ada") == "200 stale one age 10")
            #expect(try await world.send(mode: .offline, partition: "ada") == "200 stale one age 10")
            world.answer(304, ["Cache-Control: max-age=60", "Vary: \(name)", "ETag: \"a\""])
            #expect(try await world.send(new, partition: "ada").hasPrefix("200 revalidated one"))
            #expect(try await world.send(["\(name): newest"], partition: "ada").hasPrefix("200 hit one"))
        }
    }

    @Test func otherFieldsAndOtherPartitionsStillSelect() async throws {
        let world = CacheWorld()
        world.answer(["Cache-Control: max-age=60", "Vary: Accept, Authorization"], "one")
        let ada = ["Accept: text/plain", "Authorization: old"]
        #expect(try await world.send(ada, partition: "ada") == "200 miss one")
        world.answer([], "two", times: 2)
        #expect(try await world.send(["Accept: text/html"], partition: "ada") == "200 miss two")
        #expect(try await world.send(ada, partition: "bob") == "200 miss two")
        // Without a name, the credential itself is the partition.
        world.answer(["Cache-Control: max-age=60", "Vary: Cookie"], "three")
        #expect(try await world.send(["Cookie: a=1"]) == "200 miss three")
        world.answer([], "four")
        #expect(try await world.send(["Cookie: a=2"]) == "200 miss four")
    }
}
