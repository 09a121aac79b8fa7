import Foundation
import Testing

@testable import Middlewares

@Suite(.againstHanging) struct CredentialRefresherTests {
    @Test func signOutBetweenTheEndOfARefreshAndItsPersistingIsPersistedLast() async throws {
        let (persisted, hasBegun, signedOut) = (Shared<[String]>([]), Shared(false), Latch())
        let held = Shared<CredentialRefresher<String>?>(nil)
        let refresher = CredentialRefresher(
            "old",
            onChange: { value in
                if value == "new" {
                    Thread.detachNewThread {
                        hasBegun.value = true
                        held.value?.close(with: "none")
                        signedOut.open()
                    }
                    // Gives the sign-out every chance to overtake the refresh.
                    while !hasBegun.value { sched_yield() }
                    for _ in 0..<10_000 where persisted.value.isEmpty { sched_yield() }
                }
                persisted.change { $0.append(value) }
            },
            refresh: { _ in "new" }
        )
        held.value = refresher
        _ = try await refresher.value(rejecting: refresher.current.generation)
        await signedOut.opened()
        #expect(persisted.value == ["new", "none"])
        held.value = nil
    }
}
