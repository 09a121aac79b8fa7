public import Foundation

extension TokenStore {
    /// An access token with what is known about it. Its descriptions and its mirror hold no secret.
    public struct Token: Sendable, Hashable, Codable {
        /// The access token, which goes into `Authorization: Bearer …`.
        public var value: String
        /// When the token ends, by the server's word; `nil` where that is unknown, and only a rejection tells.
        public var expiresAt: Date?
        /// What gets the next token, for the refresh closure to use.
        public var refreshToken: String?
        /// Whose token it is, such as an account's ID; `nil` where a program has one account, or signs out before another signs
        /// in. A refreshed token that names none is of the same account as the old one.
        public var account: String?

        /// A token.
        public init(_ value: String, expiresAt: Date? = nil, refreshToken: String? = nil, account: String? = nil) {
            self.value = value
            self.expiresAt = expiresAt
            self.refreshToken = refreshToken
            self.account = account
        }
    }
}

extension TokenStore.Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// When it expires and whether there is a refresh token, without either's value.
    public var description: String {
        let expiry = expiresAt.map { "expires \($0)" } ?? "no known expiry"
        return "Token(\(Redaction.standard.placeholder), \(expiry), \(refreshToken == nil ? "no " : "")refresh token)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror whose secrets are redacted, so that `dump` and a test's failure print none.
    public var customMirror: Mirror {
        let placeholder = Redaction.standard.placeholder
        return Mirror(
            self,
            children: [
                "value": placeholder,
                "expiresAt": expiresAt as Any,
                "refreshToken": refreshToken.map { _ in placeholder } as Any,
                "account": account.map { _ in placeholder } as Any,
            ],
            displayStyle: .struct
        )
    }
}

/// What a store holds: a token or none, and when it is due. An object, since each request asks for it.
final class HeldToken: Sendable {
    let token: Token?
    /// From when on the token is refreshed before it is sent.
    let refreshAt: Date?
    /// What the token is sent as, made once for all requests; `nil` for one that can't be sent.
    let field: HTTPField?

    /// Whether there is one.
    let isToken: Bool

    typealias Token = TokenStore.Token

    static let none = HeldToken(token: nil, refreshAt: nil)

    /// A token from outside, which may be of any age.
    convenience init(_ token: Token?, leeway: Duration) {
        self.init(token: token, refreshAt: token?.expiresAt?.addingTimeInterval(-Self.seconds(leeway)))
    }

    /// A token that was just received.
    ///
    /// Refreshing it must get ahead, or each request would begin a refresh: one that lives hardly longer than the leeway
    /// is refreshed at half its life, and one that is over on arrival (a wrong clock, here or there) when it is rejected.
    convenience init(received token: Token, at date: Date, leeway: Duration) {
        guard let expiresAt = token.expiresAt, expiresAt > date else {
            self.init(token: token, refreshAt: nil)
            return
        }
        let lifetime = expiresAt.timeIntervalSince(date)
        self.init(
            token: token,
            refreshAt: expiresAt.addingTimeInterval(-min(Self.seconds(leeway), lifetime / 2))
        )
    }

    private init(token: Token?, refreshAt: Date?) {
        self.token = token
        self.refreshAt = refreshAt
        isToken = token != nil
        field = token.flatMap { token in
            let field = HTTPField(unchecked: .authorization, "Bearer \(token.value)")
            let isToken = !token.value.isEmpty && !token.value.contains(where: \.isWhitespace)
            return field.isValid && isToken ? field : nil
        }
    }

    func isDue(at date: @autoclosure () -> Date) -> Bool { refreshAt.map { $0 <= date() } ?? false }

    private static func seconds(_ duration: Duration) -> TimeInterval { duration / .seconds(1) }
}
