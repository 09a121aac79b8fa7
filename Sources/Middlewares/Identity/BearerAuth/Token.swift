public import Foundation

extension TokenStore {
    /// An access token, its expiry, refresh token and account. Its descriptions and its mirror contain no secret.
    public struct Token: Sendable, Hashable, Codable {
        /// The access token, sent as `Authorization: Bearer …`.
        public var value: String
        /// The expiry that the server announced; `nil` if unknown, in which case only a rejection triggers a refresh.
        public var expiresAt: Date?
        /// The refresh token, for the refresh closure to use.
        public var refreshToken: String?
        /// The account that the token belongs to, such as the account's ID. Leave `nil` if the app has one account, or signs
        /// out before another user signs in. If a refreshed token names no account, the store keeps the old token's account.
        public var account: String?

        /// Creates a token.
        public init(_ value: String, expiresAt: Date? = nil, refreshToken: String? = nil, account: String? = nil) {
            self.value = value
            self.expiresAt = expiresAt
            self.refreshToken = refreshToken
            self.account = account
        }
    }
}

extension TokenStore.Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The expiry, and whether there is a refresh token, without the value of either token.
    public var description: String {
        let expiry = expiresAt.map { "expires \($0)" } ?? "no known expiry"
        return "Token(\(Redaction.standard.placeholder), \(expiry), \(refreshToken == nil ? "no " : "")refresh token)"
    }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// A mirror with the description, so that neither `dump` nor a test failure prints a secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}

/// A token, or its absence, with the date of its next refresh. A class, because every request reads it, and copying a
/// reference is cheap.
final class HeldToken: Sendable {
    let token: Token?
    /// The date from which the token is refreshed before it is sent.
    let refreshAt: Date?
    /// The `Authorization` field, made once for all requests; `nil` if there is no token, or a field can't carry it.
    let field: HTTPField?

    typealias Token = TokenStore.Token

    static let none = HeldToken(nil, leeway: .zero)

    /// Holds a token that was just received, or one obtained elsewhere, of any age.
    ///
    /// The refresh date of a received token must lie ahead, or every request would start a refresh. A token that lives less than
    /// twice the leeway is refreshed at half its life. A token that has already expired on arrival (a wrong clock on either side)
    /// is refreshed only when rejected.
    init(_ token: Token?, leeway: Duration, receivedAt arrival: Date? = nil) {
        self.token = token
        field = token.flatMap { HTTPField.bearer($0.value) }
        var lead = leeway / .seconds(1)
        let lifetime = arrival.flatMap { token?.expiresAt?.timeIntervalSince($0) }
        if let lifetime { lead = min(lead, lifetime / 2) }
        let hasExpired = lifetime.map { $0 <= 0 } ?? false
        refreshAt = hasExpired ? nil : token?.expiresAt?.addingTimeInterval(-lead)
    }

    func isDue(at date: @autoclosure () -> Date) -> Bool { refreshAt.map { $0 <= date() } ?? false }
}
