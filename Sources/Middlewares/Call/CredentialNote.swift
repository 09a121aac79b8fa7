/// The reason that a request carried no credential, or no other one after a rejection.
///
/// The response or error of a 401 carries the note, so that the description of the error and the journal give the reason.
package struct CredentialNote: ContextNote, Error {
    /// The sentence, without secrets; `nil` if the request carried a token.
    package let note: String?
    /// Whether it is the reason that a challenge for a password isn't answered.
    package var isOfChallenge = false

    package init(note: String?) { self.note = note }

    /// The note of a request that carried a token.
    static let sent = Self(note: nil)

    /// The note of a request to an origin that the credential isn't for.
    ///
    /// - Parameters:
    ///   - named: the origins that the user named; `nil` for the client's.
    ///   - text: makes the sentence of the request's origin and those that may get the credential.
    package static func withheld(
        from request: HTTPRequest,
        _ named: Set<Origin>?,
        _ text: (_ target: String, _ allowed: String) -> String
    ) -> Self {
        let allowed = (named ?? request.context.clientOrigin.map { [$0] } ?? []).map { "\($0)" }.sorted()
            .shortened(", ")
        let target = Origin(request.url).map { "\($0)" } ?? "this URL"
        return Self(note: text(target, allowed.isEmpty ? "no origin" : allowed))
    }
}

extension HTTPRequest {
    /// The request's origin, if a credential for these origins may go there.
    ///
    /// - Parameters:
    ///   - named: the origins that the user named; `nil` for the origin of the client that sends the request.
    ///   - unknown: the error if neither names an origin.
    package func origin(among named: Set<Origin>?, orThrow unknown: @autoclosure () -> any Error) throws -> Origin? {
        let client = context.clientOrigin
        guard named != nil || client != nil else { throw unknown() }
        guard let origin = Origin(url) else { return nil }
        // Hashing an origin takes longer than comparing it with the few that are named.
        let isAllowed = named?.contains { $0 == origin } ?? (client == origin)
        return isAllowed ? origin : nil
    }
}

extension HTTPContext {
    private enum CredentialNoteKey: HTTPContextKey { static var defaultValue: CredentialNote? { nil } }

    /// On a response or an error with status 401: the reason that the request carried no credential, or no other one.
    package var credentialNote: CredentialNote? {
        get { self[CredentialNoteKey.self] }
        set { self[CredentialNoteKey.self] = newValue }
    }
}
