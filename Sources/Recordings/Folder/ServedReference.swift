internal import InterceptorsCore

/// A reference to a URL with an origin, in a field of a response.
struct ServedReference {
    /// The fields whose values a client follows.
    private static let names: [HTTPField.Name] = [.location, "Content-Location"]

    /// The origin: `https://api.example.com`, or `//api.example.com` for the scheme of the response.
    let origin: String
    /// The path, the query and the fragment.
    let path: String

    /// `nil` for a reference without an origin, and for one that isn't of http or https.
    init?(_ text: String) {
        var rest = text.utf8[...]
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].dropFirst().starts(with: "//".utf8) {
            guard ["http", "https"].contains(String(text[..<colon]).lowercased()) else { return nil }
            rest = rest[colon...].dropFirst()
        }
        guard rest.starts(with: "//".utf8) else { return nil }
        let end = rest.dropFirst(2).firstIndex { "/?#\\".utf8.contains($0) } ?? rest.endIndex
        origin = String(text[..<end])
        path = (text.utf8[end...].first == UInt8(ascii: "/") ? "" : "/") + text[end...]
    }

    /// The reference without the origin.
    var target: String {
        // Two slashes at its beginning would name another origin (RFC 3986 §4.2); some clients read a backslash as a slash.
        let isAmbiguous = path.utf8.dropFirst().first.map { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        return (isAmbiguous == true ? "/." : "") + path
    }

    /// The fields without the origins of references to what a folder answers.
    static func local(_ fields: HTTPFields, isServed: (Self) throws -> Bool) rethrows -> HTTPFields {
        HTTPFields(
            try fields.map { field in
                guard names.contains(field.name), let reference = Self(field.value), try isServed(reference) else {
                    return field
                }
                return HTTPField(unchecked: field.name, reference.target)
            }
        )
    }
}
