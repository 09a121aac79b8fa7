public import Foundation

/// Encodes a value as the content of a request. `JSONEncoder` conforms.
///
/// ```swift
/// extension PropertyListEncoder: BodyEncoder {
///     public var mediaType: String { "application/x-plist" }
/// }
/// ```
/// In a module outside this package, Swift wants `@retroactive BodyEncoder` for a type that the module doesn't declare.
public protocol BodyEncoder: Sendable {
    /// The media type of the encoded content, sent in the `Content-Type` field.
    var mediaType: String { get }
    /// Encodes the value.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// Decodes a value from the content of a response. `JSONDecoder` conforms.
public protocol BodyDecoder: Sendable {
    /// The media type that the decoder reads, sent in the `Accept` field.
    var mediaType: String { get }
    /// Decodes a value of the given type from the content.
    func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value
}

extension JSONEncoder: BodyEncoder {
    /// `application/json`
    public var mediaType: String { "application/json" }
}

extension JSONDecoder: BodyDecoder {
    /// `application/json`
    public var mediaType: String { "application/json" }
}
