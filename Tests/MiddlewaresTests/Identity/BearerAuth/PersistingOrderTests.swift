import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct PersistingOrderTests {
    @Test func signOutBetweenTheEndOfARefreshAndItsPersistingIsPersistedLast() async throws {
        let (persisted, signedOut) = (Shared<[String]>([]), Latch())
        let (hasBegun, hasChanged) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let held = Shared<TokenStore?>(nil)
        let tokens = TokenStore(
            .old,
            persist: { token in persisted.change { $0.append(token?.value ?? "none") } },
            observe: { event in
                guard case .changed(let token) = event else { return }
                if token == .new {
                    Thread.detachNewThread {
                        hasBegun.signal()
                        held.value?.signOut()
                        signedOut.open()
                    }
                    hasBegun.wait()
                    // A sign-out that overtakes the refresh ends the wait. One that waits for the refresh, as it must, gives
                    // no signal, so this wait ends in real time.
                    _ = hasChanged.wait(timeout: .now() + .milliseconds(20))
                }
                hasChanged.signal()
            },
            refresh: { _ in .new }
        )
        held.value = tokens
        let request = HTTPRequest(url: apiURL)
        _ = try await tokens.value(rejecting: tokens.generation, for: request, because: "it has expired")
        await signedOut.opened()
        await tokens.waitUntilPersisted()
        #expect(persisted.value == ["new", "none"])
        held.value = nil
    }
}
