import Foundation
import InterceptorsCore
import InterceptorsTesting
import Synchronization
import Testing

@Suite(.againstHanging) struct ClientCompletionTests {
    @Test func completionGetsTheValueOnce() async throws {
        let stub = StubTransport()
        stub.on(.get, "**", .json("42"))
        let results = Results()
        let task = makeClient(stub).run {
            try await $0.get("/x", as: Int.self)
        } completion: {
            results.append($0)
        }
        await task.value
        #expect(try results.all.map { try $0.get() } == [42])
    }

    @Test func completionGetsTheErrorOnce() async throws {
        let results = Results()
        let task = makeClient(StubTransport()).run {
            try await $0.get("/x", as: Int.self)
        } completion: {
            results.append($0)
        }
        await task.value
        #expect(results.all.count == 1)
        #expect(throws: TransportError.self) { try results.all.first?.get() }
    }

    @Test func cancelledCallCompletesOnceWithCancellationError() async throws {
        let stub = StubTransport()
        stub.on(.get, "**", .json("42").delayed(by: .seconds(3600)))
        let results = Results()
        let task = makeClient(stub).run {
            try await $0.get("/x", as: Int.self)
        } completion: {
            results.append($0)
        }
        await stub.requests(atLeast: 1)
        task.cancel()
        task.cancel()
        await task.value
        #expect(results.all.count == 1)
        #expect(throws: CancellationError.self) { try results.all.first?.get() }
    }

    @Test func completionRunsOnItsOwnActor() async throws {
        let stub = StubTransport()
        stub.on(.get, "**", .json("42"))
        let task = makeClient(stub).run {
            try await $0.get("/x", as: Int.self)
        } completion: { @MainActor _ in
            MainActor.preconditionIsolated()
        }
        await task.value
    }
}

private final class Results: Sendable {
    private let storage = Mutex<[Result<Int, any Error>]>([])
    var all: [Result<Int, any Error>] { storage.withLock(\.self) }
    func append(_ result: Result<Int, any Error>) { storage.withLock { $0.append(result) } }
}
