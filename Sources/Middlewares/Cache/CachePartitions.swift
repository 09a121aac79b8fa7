internal import Foundation
internal import HTTPSyntax
internal import Interceptors
internal import Synchronization

/// Decides which partition of the store a request belongs to.
final class CachePartitions: Sendable {
    /// The parts of a request that identify its caller.
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

    /// The field names of a request, and the indices of the fields with credentials.
    private struct Form {
        let names: [HTTPField.Name]
        let places: [Int]

        init(_ fields: HTTPFields) {
            names = fields.map(\.name)
            places = fields.indices.filter { fields[$0].name.identifiesCaller }
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

        /// The indices of the fields with credentials. The case of a name doesn't affect whether it is sensitive.
        mutating func places(in fields: HTTPFields) -> [Int] {
            if let form = forms.first(where: { $0.isThat(of: fields) }) { return form.places }
            let form = Form(fields)
            if forms.count == remembered { forms.removeLast() }
            forms.insert(form, at: 0)
            return form.places
        }
    }

    // An app acts for one or two users, and its requests have few sets of names. Checking each name and computing a
    // fingerprint would take as long as the rest of a hit.
    private static let remembered = 4
    private let digest: FieldDigest
    private let state = Mutex(State())

    init(_ digest: FieldDigest = .ofProcess) { self.digest = digest }

    /// The partition that the request names, or a fingerprint of its credentials; empty if it has no credentials.
    ///
    /// Naming a caller's fingerprint requires knowing its credentials.
    ///
    /// Credentials are every field with a sensitive name except `Proxy-Authorization`, a user in the URL, and the identities
    /// that interceptors have declared (``Interceptors/HTTPRequest/identifyCaller(by:as:)``).
    ///
    /// - Parameter mayHaveUser: whether the URL may contain a user; `false` skips parsing the URL.
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
        // Parsing the URL is slow, so it is left to the few URLs that may contain a user.
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

    // Each part follows its length, so that different lists of parts never make the same bytes.
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
