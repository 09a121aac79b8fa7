internal import Foundation
internal import HTTPSyntax
internal import Interceptors
internal import Synchronization

/// Whose entries a request may see.
final class CachePartitions: Sendable {
    /// What a request shows of who sends it.
    private struct Credentials {
        var fields: [HTTPField] = []
        var user: String?
        var identities: [CallerIdentity] = []

        func isOf(_ other: String?) -> Bool {
            guard let user, let other else { return user == nil && other == nil }
            return ASCII.isSame(user, other)
        }
    }

    private struct Known {
        let credentials: Credentials
        let name: String

        func isShown(by fields: HTTPFields, at places: [Int], user: String?, _ identities: [CallerIdentity]) -> Bool {
            credentials.isOf(user) && credentials.fields.count == places.count && credentials.identities == identities
                && places.indices.allSatisfy { credentials.fields[$0] == fields[places[$0]] }
        }
    }

    /// The names of the fields of a request, and where among them are those of credentials.
    private struct Form {
        let names: [HTTPField.Name]
        let places: [Int]

        init(_ fields: HTTPFields) {
            let redaction = Redaction.standard
            names = fields.map(\.name)
            places = fields.indices.filter { redaction.isSensitive(fields[$0].name) }
        }

        func isThat(of fields: HTTPFields) -> Bool {
            guard names.count == fields.count else { return false }
            for place in names.indices where names[place] != fields[place].name { return false }
            return true
        }
    }

    private struct State {
        var known: [Known] = []
        var forms: [Form] = []

        /// Where the credentials are among the fields. Equal names are equally sensitive, whatever their case.
        mutating func places(in fields: HTTPFields) -> [Int] {
            if let form = forms.first(where: { $0.isThat(of: fields) }) { return form.places }
            let form = Form(fields)
            if forms.count == remembered { forms.removeLast() }
            forms.insert(form, at: 0)
            return form.places
        }
    }

    // A program speaks for a user or two, and its requests have few forms; to look at each name, and to make a
    // fingerprint, would take as long as all the rest of a hit.
    private static let remembered = 4
    private let digest: FieldDigest
    private let state = Mutex(State())

    init(_ digest: FieldDigest = .ofProcess) { self.digest = digest }

    /// What the request names, or a fingerprint of the credentials it carries; empty if it carries none.
    ///
    /// Who wants to be taken for another by naming its fingerprint must know its credentials.
    ///
    /// Every field with a sensitive name counts as a credential, and so do a user in the URL and what an interceptor has
    /// declared (``Interceptors/HTTPRequest/identifyCaller(by:as:)``).
    ///
    /// - Parameter mayHaveUser: whether there may be a user in the URL.
    func name(for request: HTTPRequest, mayHaveUser: Bool = true) -> String {
        if let named = request.context.cachePartition, !named.isEmpty { return named }
        let (fields, identities) = (request.headerFields, request.context.callerIdentities)
        let user = mayHaveUser ? Self.user(of: request.url) : nil
        let (places, known) = state.withLock { state -> ([Int], String?) in
            let places = state.places(in: fields)
            return (places, state.known.first { $0.isShown(by: fields, at: places, user: user, identities) }?.name)
        }
        if places.isEmpty && user == nil && identities.isEmpty { return "" }
        if let known { return known }
        let credentials = Credentials(fields: places.map { fields[$0] }, user: user, identities: identities)
        let name = fingerprint(of: credentials)
        state.withLock { state in
            if state.known.count == Self.remembered { state.known.removeLast() }
            state.known.insert(Known(credentials: credentials, name: name), at: 0)
        }
        return name
    }

    private static func user(of url: URL) -> String? {
        // What parses the URL is for the few that may have a user.
        guard url.absoluteString.utf8.contains(UInt8(ascii: "@")), let user = url.user(percentEncoded: true) else {
            return nil
        }
        return user + ":" + (url.password(percentEncoded: true) ?? "")
    }

    private func fingerprint(of credentials: Credentials) -> String {
        var bytes: [UInt8] = []
        for field in credentials.fields { Self.add(field.name.rawName, field.value, to: &bytes) }
        if let user = credentials.user { Self.add("@", user, to: &bytes) }
        for identity in credentials.identities {
            Self.add(count: identity.bytes.count, to: &bytes)
            bytes += identity.bytes
        }
        return digest.text(of: bytes, after: "credentials:")
    }

    // Each part after its length, so that no two lists of parts make the same bytes.
    private static func add(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        add(count: name.utf8.count, to: &bytes)
        bytes += name.utf8.map(ASCII.lowercased)
        add(count: value.utf8.count, to: &bytes)
        bytes += value.utf8
    }

    private static func add(count: Int, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(count).littleEndian) { bytes += $0 }
    }
}
