import Dispatch
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct WatchedThreadTests {
    private struct Blocked: Error {}

    /// Tells when nobody holds it any more.
    private final class Late: Error, Sendable {
        private let isForgotten: DispatchSemaphore
        init(_ isForgotten: DispatchSemaphore) { self.isForgotten = isForgotten }
        deinit { isForgotten.signal() }
    }

    /// The report of a blocked thread may free the thread, for instance by a cancellation.
    @Test func reportWinsOverAThreadThatItFrees() async throws {
        let (isFreed, isForgotten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        await #expect(throws: Blocked.self) {
            try await WatchedThread.run(limit: .milliseconds(1), progress: { 1 }) {
                isFreed.signal()
                isForgotten.wait()
                return Blocked()
            } _: {
                isFreed.wait()
                throw Late(isForgotten)
            }
        }
    }
}
