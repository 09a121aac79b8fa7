import Foundation
import Testing

@testable import InterceptorsTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

// Situations that no network causes on this platform: suspended tasks, and events in unusual orders.
@Suite(.againstHanging) struct TransferStateTests {
    let request: HTTPRequest
    let head: ResponseHead
    // A placeholder that is never resumed.
    let task: URLSessionTask

    init() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        request = HTTPRequest(url: url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:]))
        head = try ResponseHead(response, to: request)
        // Foundation on Linux makes tasks on one queue, which another test keeps busy. Swift's pool has too few threads to wait
        // there.
        task = await withCheckedContinuation { made in
            DispatchQueue.global().async {
                made.resume(returning: URLSession(configuration: .ephemeral).dataTask(with: url))
            }
        }
    }

    private func state(_ mode: ResponseBodyMode, canSuspend: Bool = true) -> TransferState {
        let limits = TransferState.Limits(responseBody: mode, streamBuffer: 100, canSuspend: canSuspend)
        return TransferState(request: request, limits: limits, timeLimits: TimeLimits(Timeouts()))
    }

    @Test func aFullBufferMakesTheTaskWaitUntilItIsHalfEmpty() async throws {
        var state = state(.streamed)
        let isAttached = state.attach(task, upload: nil, at: .zero)
        #expect(isAttached)
        _ = state.receive(head)
        #expect(!state.receive(Data(count: 60), at: .zero).flowHasChanged)
        #expect(state.receive(Data(count: 60), at: .zero).flowHasChanged)
        #expect(state.flow?.isSuspended == true)
        // Bytes that were already under way still arrive, and are kept.
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

    // URLSession does this when it restarts a task that it had made wait.
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

    private func head(_ status: Int, _ fields: [String: String]) throws -> ResponseHead {
        let response = HTTPURLResponse(url: request.url, statusCode: status, httpVersion: nil, headerFields: fields)
        return try ResponseHead(try #require(response), to: request)
    }

    /// The caller's result after a change of a transfer whose task has begun.
    private func result(
        of request: HTTPRequest? = nil,
        _ change: (inout TransferState) -> TransferActions
    ) async throws -> Result<TransferState.Answer, any Error>? {
        var result: Result<TransferState.Answer, any Error>?
        _ = try? await withCheckedThrowingContinuation { (caller: TransferState.Caller) in
            let limits = TransferState.Limits(responseBody: .buffered, streamBuffer: 100, canSuspend: true)
            let timeLimits = TimeLimits(Timeouts(idle: nil))
            var state = TransferState(request: request ?? self.request, limits: limits, timeLimits: timeLimits)
            _ = state.begin(caller)
            _ = state.attach(task, upload: nil, at: .zero)
            result = change(&state).answer?.1
            caller.resume(throwing: CancellationError())
        }
        return result
    }

    @Test func endWithFewerBytesThanAnnouncedIsATruncation() async throws {
        let head = try head(200, ["Content-Length": "5"])
        for (bytes, code) in [("four", HTTPErrorCode.truncated), ("", .truncated), ("fives", nil)] {
            let result = try await result { state in
                _ = state.receive(head)
                if !bytes.isEmpty { _ = state.receive(Data(bytes), at: .zero) }
                return state.complete(nil) { nil }
            }
            switch try #require(result) {
            case .success: #expect(code == nil)
            case .failure(let error): #expect((error as? TransportError)?.code == code, "\(bytes): \(error)")
            }
        }
    }

    /// Foundation on Linux loses the content of some redirects, so Content-Length would be wrong.
    @Test func headThatComesWithTheEndHasNeitherContentNorItsLength() async throws {
        let late = try head(302, ["Content-Length": "5", "X-Kept": "1"])
        let answer = try #require(try await result { $0.complete(nil) { late } }).get()
        #expect(answer.head.status == 302)
        #expect(answer.head.headers == ["X-Kept": "1"])
        if case .gathered(let content) = answer.content { #expect(content.isEmpty) } else { Issue.record("\(answer)") }
        for failure in [nil, CancellationError()] as [CancellationError?] {
            let result = try await result { state in
                state.complete(nil) {
                    if let failure { throw failure }
                    return nil
                }
            }
            let error = #expect(throws: (any Error).self) { try result?.get() }
            #expect(failure == nil ? (error as? TransportError)?.code == .invalidResponse : error is CancellationError)
        }
    }

    /// RFC 9110 §15.4: nobody reads this content.
    @Test func followedRedirectIsTheAnswerWhateverBecomesOfItsContent() async throws {
        var followed = request
        followed.context.followsRedirects = true
        let head = try head(302, ["Content-Length": "5", "Location": "/next"])
        let timeout = TransportError(.timedOut, "Silence.")
        let ends: [(inout TransferState) -> TransferActions] = [
            { $0.complete(URLError(.networkConnectionLost)) { nil } }, { $0.complete(nil) { nil } },
            { $0.receive(Data("too much"), at: .zero) }, { $0.receive(head) }, { $0.stall(timeout) },
        ]
        for (index, end) in ends.enumerated() {
            let change = { (state: inout TransferState) in
                _ = state.receive(head)
                return end(&state)
            }
            let answer = try await result(of: followed, change)?.get()
            if case .failed? = answer?.content { #expect(answer?.head.status == 302) } else { Issue.record("\(index)") }
            // If nobody follows redirects, each of these ends is an error.
            let result = try #require(try await result(change))
            #expect(throws: (any Error).self) { try result.get() }
        }
    }

    @Test func cancellationAndTheLimitOfTheWholeEndACallInTheContentOfARedirect() async throws {
        var followed = request
        followed.context.followsRedirects = true
        let head = try head(302, ["Content-Length": "5", "Location": "/next"])
        for error in [CancellationError(), TransportError(.timedOut, "Too long.")] as [any Error] {
            let result = try await result(of: followed) { state in
                _ = state.receive(head)
                return state.abort(error)
            }
            #expect(throws: (any Error).self) { try result?.get() }
        }
    }

    @Test func contentOfAFollowedRedirectMayStallForASecondAndNoLonger() throws {
        var followed = request
        followed.context.followsRedirects = true
        for timeouts in [Timeouts(idle: nil), Timeouts(idle: .seconds(60)), Timeouts(idle: .milliseconds(10))] {
            let limits = TransferState.Limits(responseBody: .buffered, streamBuffer: 100, canSuspend: true)
            var state = TransferState(request: followed, limits: limits, timeLimits: TimeLimits(timeouts))
            _ = state.attach(task, upload: nil, at: .zero)
            _ = state.receive(try head(302, ["Content-Length": "5", "Location": "/next"]))
            guard case .wait(let until)? = state.timeLimits.check(at: .zero) else {
                Issue.record("No limit holds.")
                continue
            }
            #expect(until == min(.seconds(1), timeouts.idle ?? .seconds(1)))
            _ = state.abort(CancellationError())
        }
    }

    /// Even if its reader never catches up, a transfer must release the chunks that were read.
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
