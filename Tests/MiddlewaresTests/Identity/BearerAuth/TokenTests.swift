import Foundation
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct TokenTests {
    private let secret = TokenStore.Token(
        "s3cr3t-access",
        expiresAt: Date(timeIntervalSince1970: 1_000),
        refreshToken: "s3cr3t-refresh"
    )

    @Test func noDescriptionOrMirrorShowsASecret() {
        let store = TokenStore(secret, origins: [apiOrigin]) { _ in .new }
        var texts: [String] = []
        for value in [secret, store, [secret], ["k": secret], AnyInterceptor.bearerAuth(store)] as [Any] {
            texts += ["\(value)", String(reflecting: value)]
            var dumped = ""
            dump(value, to: &dumped)
            texts.append(dumped)
        }
        texts.append("\(AnyInterceptor.retryOnUnauthorized(store))")
        var dumped = ""
        dump(AnyInterceptor.retryOnUnauthorized(store), to: &dumped)
        texts.append(dumped)
        texts.append("\(Optional(secret) as Any)")
        for text in texts { #expect(!text.contains("s3cr3t")) }
    }

    @Test func descriptionSaysWhatIsNoSecret() {
        #expect(secret.description == "Token(<redacted>, expires 1970-01-01 00:16:40 +0000, refresh token)")
        #expect(TokenStore.Token("a").description == "Token(<redacted>, no known expiry, no refresh token)")
    }

    @Test func tokenComesBackFromItsEncoding() throws {
        let encoded = try JSONEncoder().encode(secret)
        #expect(try JSONDecoder().decode(TokenStore.Token.self, from: encoded) == secret)
    }

    /// Lifetime and leeway, and when the token is due, all in seconds since the token arrived.
    @Test(arguments: [
        (3600.0, 30, 3570.0), (60, 30, 30), (61, 30, 31), (40, 30, 20), (1, 30, 0.5), (100, 0, 100), (100, -20, 120),
        (3600, Int.max / 2, 1800),
    ])
    func receivedTokenIsDueALeewayBeforeItsExpiryButNotBeforeHalfItsLife(
        expiry: Double,
        leeway: Int,
        due: Double
    ) {
        let arrival = Date(timeIntervalSince1970: 1_000_000)
        let token = TokenStore.Token("a", expiresAt: arrival.addingTimeInterval(expiry))
        let held = HeldToken(token, leeway: .seconds(leeway), receivedAt: arrival)
        #expect(!held.isDue(at: arrival))
        #expect(!held.isDue(at: arrival.addingTimeInterval(due - 0.001)))
        #expect(held.isDue(at: arrival.addingTimeInterval(due)))
    }

    @Test(arguments: [0.0, -1, -1e9])
    func tokenThatIsOverOnArrivalIsLeftToTheServersRejection(expiry: Double) {
        let arrival = Date(timeIntervalSince1970: 1_000_000)
        let token = TokenStore.Token("a", expiresAt: arrival.addingTimeInterval(expiry))
        let held = HeldToken(token, leeway: .seconds(30), receivedAt: arrival)
        #expect(!held.isDue(at: arrival))
        #expect(!held.isDue(at: .distantFuture))
    }

    @Test(arguments: [(29.0, true), (30, true), (30.001, false), (-5, true)])
    func tokenFromOutsideIsDueALeewayBeforeItsExpiry(expiry: Double, isDue: Bool) {
        let now = Date(timeIntervalSince1970: 1_000_000)
        let token = TokenStore.Token("a", expiresAt: now.addingTimeInterval(expiry))
        #expect(HeldToken(token, leeway: .seconds(30)).isDue(at: now) == isDue)
    }

    @Test func tokenOfUnknownExpiryIsNeverDue() {
        #expect(!HeldToken(.init("a"), leeway: .seconds(30)).isDue(at: .distantFuture))
        #expect(!HeldToken.none.isDue(at: .distantFuture))
    }
}
