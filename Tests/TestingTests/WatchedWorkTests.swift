import Dispatch
import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct WatchedWorkTests {
    private struct Blocked: Error {}

    /// Tells when nobody holds it any more.
    private final class Late: Error, Sendable {
        private let isForgotten: DispatchSemaphore
        init(_ isForgotten: DispatchSemaphore) { self.isForgotten = isForgotten }
        deinit { isForgotten.signal() }
    }

    /// The report of blocked work may free the work, for instance by a cancellation.
    @Test func reportWinsOverWorkThatItFrees() async throws {
        let (isFreed, isForgotten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        await #expect(throws: Blocked.self) {
            try await WatchedWork.run(every: .milliseconds(1)) {
                {
                    isFreed.signal()
                    isForgotten.wait()
                    return Blocked()
                }
            } start: { end in
                Thread.detachNewThread {
                    isFreed.wait()
                    end(.failure(Late(isForgotten)))
                }
            }
        }
    }
}
