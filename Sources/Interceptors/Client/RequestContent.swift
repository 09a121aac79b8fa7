/// The content of a request and its media type.
///
/// ```swift
/// try await api.post("/login", body: .form(["user": name, "password": password]))
/// try await api.put("/photos/\(id)", body: .raw(HTTPBody(file: photo), type: "image/jpeg"))
/// ```
public struct RequestContent: Sendable {
    private let make: @Sendable (any BodyEncoder) throws -> (body: HTTPBody, type: String?)

    /// A value that the client's encoder encodes, outside the caller's actor.
    public static func encoded(_ value: some Encodable & Sendable) -> Self {
        Self { encoder in (HTTPBody(try encoder.encode(value)), encoder.mediaType) }
    }

    /// The fields of a form, `application/x-www-form-urlencoded`, encoded as strictly as a query.
    public static func form(_ fields: HTTPQuery) -> Self {
        Self { _ in (HTTPBody(fields.encoded), "application/x-www-form-urlencoded") }
    }

    /// A body as it is.
    ///
    /// - Parameters:
    ///   - body: bytes, a file or a stream.
    ///   - type: its media type for `Content-Type`; `nil` for none but what the call's fields say.
    public static func raw(_ body: HTTPBody, type: String?) -> Self {
        Self { _ in (body, type) }
    }

    // Encoding may take its time: not on the caller's actor.
    @concurrent
    func encode(with encoder: any BodyEncoder) async throws -> (body: HTTPBody, type: String?) {
        try make(encoder)
    }
}
