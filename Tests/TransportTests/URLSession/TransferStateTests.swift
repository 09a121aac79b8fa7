import Foundation
import Testing

@testable import Transport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Decisions that no network on this platform brings about: where a task can be made to wait, and events in odd orders.
@Suite(.againstHanging) struct TransferStateTests {
    let request: HTTPRequest
    let head: ResponseHead
    // Never resumed: it only stands for one.
    let task: URLSessionTask

    init() throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        request = HTTPRequest(url: url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:]))
        head = try ResponseHead(response, to: request)
        task = URLSession(configuration: .ephemeral).dataTask(with: url)
    }

    private func state(_ mode: ResponseBodyMode, canSuspend: Bool = true) -> TransferState {
        let limits = TransferState.Limits(responseBody: mode, streamBuffer: 100, canSuspend: canSuspend)
        return TransferState(request: request, limits: limits, deadlines: Deadlines(Timeouts()))
    }

    @Test func aFullBufferMakesTheTaskWaitUntilItIsHalfEmpty() async throws {
        var state = state(.streamed)
        let isAttached = state.attach(task, upload: nil, at: .zero)
        #expect(isAttached)
        _ = state.receive(head)
        #expect(!state.receive(Data(count: 60), at: .zero).flowHasChanged)
        #expect(state.receive(Data(count: 60), at: .zero).flowHasChanged)
        #expect(state.flow?.isSuspended == true)
        // What was under way already still comes, and is kept.
        #expect(!state.receive(Data(count: 60), at: .zero).flowHasChanged)
        var changes: [Bool] = []
        for _ in 0..<3 {
            let chunk = try await withCheckedThrowingContinuation { reader in
                let actions = state.read(reader, at: .zero)
                changes.append(actions.flowHasChanged)
                actions.delivery?.perform()
            }
            #expect(chunk?.count == 60)
        }
        #expect(changes == [false, false, true])
        #expect(state.flow?.isSuspended == false)
    }

    @Test func anEndedTransferIsNotResumed() async throws {
        var state = state(.streamed)
        _ = state.attach(task, upload: nil, at: .zero)
        _ = state.receive(head)
        _ = state.receive(Data(count: 200), at: .zero)
        _ = state.complete(nil) { nil }
        #expect(state.isOver)
        let chunk = try await withCheckedThrowingContinuation { reader in
            let actions = state.read(reader, at: .zero)
            #expect(!actions.flowHasChanged)
            actions.delivery?.perform()
        }
        #expect(chunk?.count == 200)
    }

    // As when URLSession begins a task anew that was made to wait.
    @Test(arguments: [ResponseBodyMode.streamed, .buffered])
    func secondHeadEndsTheCallAndItsContentIsNeverAppended(mode: ResponseBodyMode) async throws {
        var state = state(mode)
        _ = state.attach(task, upload: nil, at: .zero)
        _ = state.receive(head)
        _ = state.receive(Data("first"), at: .zero)
        let actions = state.receive(head)
        #expect(actions.cancelled != nil)
        #expect(state.isOver)
        _ = state.receive(Data("first"), at: .zero)
        guard mode == .streamed else { return }
        let first = try await withCheckedThrowingContinuation { state.read($0, at: .zero).delivery?.perform() }
        #expect(first == Data("first"))
        let error = await #expect(throws: TransportError.self) {
            _ = try await withCheckedThrowingContinuation { state.read($0, at: .zero).delivery?.perform() }
        }
        #expect(error?.code == .truncated)
    }

    @Test func moreContentThanAnnouncedEndsTheCallAndIsNotHandedOut() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let fields = ["Content-Length": "5"]
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
        var state = state(.streamed)
        _ = state.attach(task, upload: nil, at: .zero)
        _ = state.receive(try ResponseHead(response, to: request))
        #expect(state.receive(Data("first"), at: .zero).cancelled == nil)
        #expect(state.receive(Data("first"), at: .zero).cancelled != nil)
        let first = try await withCheckedThrowingContinuation { state.read($0, at: .zero).delivery?.perform() }
        #expect(first == Data("first"))
        let error = await #expect(throws: TransportError.self) {
            _ = try await withCheckedThrowingContinuation { state.read($0, at: .zero).delivery?.perform() }
        }
        #expect(error?.code == .invalidResponse)
    }

    /// A reader that never catches up must not make the transfer remember every chunk that it has had.
    @Test func placesOfReadChunksAreLetGoWhileMoreIsHeld() async throws {
        var buffer = ChunkBuffer()
        _ = buffer.append(Data([0]))
        for number in 1...200 {
            _ = buffer.append(Data([UInt8(number)]))
            let chunk = try await withCheckedThrowingContinuation { reader in buffer.read(reader)?.perform() }
            #expect(chunk == Data([UInt8(number - 1)]))
            #expect(buffer.count == 1)
            #expect(buffer.places <= 4)
        }
    }

    @Test func aTaskForACallThatIsOverIsRefused() {
        var state = state(.buffered)
        _ = state.abort(CancellationError())
        let isAttached = state.attach(task, upload: nil, at: .zero)
        #expect(!isAttached)
    }

    @Test func nothingIsTakenFromATaskAfterItsEnd() {
        var state = state(.buffered)
        _ = state.attach(task, upload: nil, at: .zero)
        _ = state.receive(head)
        _ = state.receive(Data("a"), at: .zero)
        #expect(state.complete(nil) { nil }.cancelled == nil)
        let late = [
            state.receive(head), state.receive(Data("b"), at: .zero), state.complete(nil) { nil },
            state.abort(CancellationError()),
        ]
        for actions in late {
            #expect(actions.answer == nil)
            #expect(actions.delivery == nil)
            #expect(actions.cancelled == nil)
        }
    }
}
