internal import InterceptorsSyntax

extension HTTPFields {
    /// The fields without the origins of references to what a folder answers, so that a client stays at the server.
    ///
    /// - Parameter isServed: whether the folder answers requests to an origin, such as `https://api.example.com`.
    func local(isServed: (_ origin: String) -> Bool) -> HTTPFields {
        HTTPFields(
            map { field in
                guard [.location, "Content-Location"].contains(field.name), var reference = URLReference(field.value),
                    let authority = reference.authority, ["http", "https"].contains(reference.scheme ?? "https"),
                    isServed("\(reference.scheme ?? "https")://\(authority)")
                else { return field }
                (reference.scheme, reference.authority) = (nil, nil)
                if reference.path.isEmpty { reference.path = "/" }
                // Two slashes at its beginning would name another origin (RFC 3986 §4.2).
                if reference.path.utf8.starts(with: "//".utf8) { reference.path = "/." + reference.path }
                return HTTPField(unchecked: field.name, reference.text)
            }
        )
    }
}
