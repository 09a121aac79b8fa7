import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CredentialRefresherTests {
    @Test func signOutBetweenTheEndOfARefreshAndItsPersistingIsPersistedLast() async throws {
        let (persisted, signedOut) = (Shared<[String]>([]), Latch())
        let (hasBegun, hasPersisted) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let held = Shared<CredentialRefresher<String>?>(nil)
        let refresher = CredentialRefresher(
            "old",
            onChange: { value in
                if value == "new" {
                    Thread.detachNewThread {
                        hasBegun.signal()
                        held.value?.close(with: "none")
                        signedOut.open()
                    }
                    hasBegun.wait()
                    // A sign-out that overtakes the refresh ends the wait. One that waits for the refresh, as it must, gives
                    // no signal, so this wait ends in real time.
                    _ = hasPersisted.wait(timeout: .now() + .milliseconds(20))
                }
                persisted.change { $0.append(value) }
                hasPersisted.signal()
            },
            refresh: { _, _ in "new" }
        )
        held.value = refresher
        _ = try await refresher.value(rejecting: refresher.current.generation)
        await signedOut.opened()
        #expect(persisted.value == ["new", "none"])
        held.value = nil
    }
}
