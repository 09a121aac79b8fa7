public import Foundation

/// The content of a request and its media type.
///
/// ```swift
/// try await api.post("/login", body: .form(["user": name, "password": password]))
/// try await api.post("/photos", body: .multipart([.text(name: "title", title), .file(name: "photo", at: photo)]))
/// try await api.put("/photos/\(id)", body: .file(at: photo, type: "image/jpeg"))
/// ```
public struct RequestBody: Sendable {
    private enum Storage: Sendable {
        case body(HTTPBody, type: String?)
        case value(any Encodable & Sendable)
    }

    private let storage: Storage
    /// Whether the media type is only a guess, which a chain's default may replace. That of a form belongs to its content, as
    /// the boundary does.
    private var isGuessed = false

    /// A value to encode with the client's encoder, off the caller's actor.
    public static func encoded(_ value: some Encodable & Sendable) -> Self {
        Self(storage: .value(value), isGuessed: true)
    }

    /// `Data` and `[UInt8]` as they are, a `String` as plain text, and any other value encoded.
    static func value(_ value: some Encodable & Sendable) -> Self {
        switch value {
        case let bytes as Data: Self(storage: .body(HTTPBody(bytes), type: "application/octet-stream"), isGuessed: true)
        case let bytes as [UInt8]: Self.value(Data(bytes))
        case let text as String: stream(HTTPBody(text), type: "text/plain; charset=utf-8")
        default: encoded(value)
        }
    }

    /// A JSON object written as a literal: see ``JSONObject``. Encoded by the client's encoder if its media type is
    /// JSON, and otherwise by a plain `JSONEncoder`.
    public static func json(_ object: JSONObject) -> Self { Self(storage: .value(object)) }

    /// The fields of a form, as `application/x-www-form-urlencoded`, encoded as strictly as a query.
    public static func form(_ fields: HTTPQuery) -> Self {
        .stream(HTTPBody(fields.encoded), type: "application/x-www-form-urlencoded")
    }

    /// The fields and files of a form, as `multipart/form-data` with a random boundary. Files are streamed, never loaded whole.
    ///
    /// - Throws: `TransportError` if a part can't be sent: see `MultipartFormData.body()`.
    public static func multipart(_ parts: [MultipartFormData.Part]) throws -> Self {
        try multipart(MultipartFormData(parts))
    }

    /// A form whose boundary the caller has chosen.
    ///
    /// - Throws: `TransportError` if a part can't be sent: see `MultipartFormData.body()`.
    public static func multipart(_ form: MultipartFormData) throws -> Self {
        .stream(try form.body(), type: form.contentType)
    }

    /// A body to send unchanged.
    ///
    /// - Parameters:
    ///   - body: bytes, a file or a stream.
    ///   - type: the media type for `Content-Type`, used unless the call's fields set one. `nil` to send only the call's
    ///     fields.
    public static func stream(_ body: HTTPBody, type: String?) -> Self {
        Self(storage: .body(body, type: type))
    }

    /// Bytes to send unchanged.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - type: as for ``stream(_:type:)``.
    public static func data(_ bytes: Data, type: String?) -> Self { stream(HTTPBody(bytes), type: type) }

    /// A file to send unchanged, read in chunks each time it is sent.
    ///
    /// - Parameters:
    ///   - file: the file's URL.
    ///   - type: as for ``stream(_:type:)``; `nil` by default.
    /// - Throws: `TransportError` with `HTTPErrorCode.unreadableFile` if there is no such regular file.
    public static func file(at file: URL, type: String? = nil) throws -> Self {
        stream(try HTTPBody(file: file), type: type)
    }

    /// Sets the body of a request, and its `Content-Type` if missing.
    func fill(_ request: inout HTTPRequest, encodedBy encoder: any BodyEncoder) async throws {
        let type: String?
        switch storage {
        case .body(let body, let given): (request.body, type) = (body, given)
        case .value(let value):
            // A JSON object is JSON, whatever the client's encoder writes.
            let encoder = isGuessed || encoder.mediaType.hasSuffix("json") ? encoder : JSONEncoder()
            request.body = HTTPBody(try await Self.encode(value, by: encoder))
            type = encoder.mediaType
        }
        guard let type else { return }
        if isGuessed {
            request.fillIn(.contentType, type)
        } else {
            request.headers.addMissing([.contentType: type])
        }
    }

    // Encoding may be slow, so it runs off the caller's actor.
    @concurrent
    private static func encode(_ value: some Encodable & Sendable, by encoder: any BodyEncoder) async throws -> Data {
        try encoder.encode(value)
    }
}

extension RequestBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of content and its size, without values, which may be secret.
    public var description: String {
        switch storage {
        case .value(let value): (value as? JSONObject)?.description ?? "an encoded value"
        case .body(let body, let type): "\(body), \(type ?? "no media type")"
        }
    }
    /// Equal to ``description``.
    public var debugDescription: String { description }
    /// A mirror that shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["content": description], displayStyle: .struct) }
}
