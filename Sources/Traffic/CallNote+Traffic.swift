internal import InterceptorsCore

// The names of decisions are part of what a journal's readers rely on.
extension CallNote {
    static func coalesced(with callID: Int?) -> Self {
        Self("coalesced", "shares the exchange of an identical request", callID: callID)
    }

    static func hedged(after delay: Duration) -> Self {
        Self("hedged", "sends a second time, because there was no response within \(delay.logged)")
    }

    static func hedgeWon(by number: Int) -> Self {
        Self("hedgeWon", "the \(number == 1 ? "first" : "second") attempt's outcome is returned")
    }

    static let superseded = Self("superseded", "a later call with the same key cancelled this one")

    static func waited(for permit: String) -> Self { Self("waited", "got \(permit) after waiting in line") }

    static func refused(_ error: LimitError) -> Self {
        Self(error.code == .circuitOpen ? "circuitOpen" : "limited", error.message)
    }

    static let circuitProbed = Self("circuitProbed", "the request tests whether the host has recovered")
}
